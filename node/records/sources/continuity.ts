import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Sha256Hash, writeSha256 } from '../../../protocol/hash.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import { recordLeaf } from '../../../protocol/chain/record.ts';
import type { SourceHead } from '../../../protocol/chain/sources.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import type { SourceEnd, SourceRecords } from './source-records.ts';

/** Records that one call looks at. */
export const MAX_CONTINUITY_RECORDS = 500;
/** Records after which others get their turn. */
const RECORDS_PER_SLICE = 32;

/** Places of a source, first and last included. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface Gap extends Range {
  readonly reason: 'missing' | 'damaged';
}

/** A record, or the head of the source, that does not follow the record before it. */
export interface Fork {
  readonly sourceSeq: number;
  /** Null for the head. */
  readonly attestationId: RecordId | null;
  /** Leaf hash of the record before, as the store has it; null before the first. */
  readonly expected: Sha256Hash | null;
  readonly found: Sha256Hash | null;
}

export interface Continuity {
  /** Null where there is nothing at these places. */
  readonly checked: Range | null;
  /** Records that are whole, each following the one before. */
  readonly ranges: readonly Range[];
  readonly gaps: readonly Gap[];
  readonly forks: readonly Fork[];
  /** Where to go on; null where all that was asked for has been checked. */
  readonly next: number | null;
}

/**
 * What is known of the place before: `unknown` where the record is not whole, so that the next proves nothing by it.
 */
type Before = Sha256Hash | null | 'unknown';

/**
 * Derives a part of a source's chain again: the leaf hash of each stored record is the next one's `sourcePrev`, and the
 * last one's is the head. Looks at a bounded number of records. `end`: read before, so that it is one moment's.
 */
export async function checkContinuity(
  records: SourceRecords,
  { head, last }: SourceEnd,
  asked: Range,
): Promise<Continuity> {
  const wanted = Math.min(asked.to, last);
  if (asked.from > wanted) return { checked: null, ranges: [], gaps: [], forks: [], next: null };
  const to = Math.min(wanted, asked.from + MAX_CONTINUITY_RECORDS - 1);
  const walk = new Walk(records, await leafBefore(records, asked.from));
  for (let at = asked.from; at <= to; at++) {
    await walk.take(at);
    if (at % RECORDS_PER_SLICE === 0) await yieldToEventLoop();
  }
  if (to === last) walk.takeHead(head, last);
  const { ranges, gaps, forks } = walk;
  return { checked: { from: asked.from, to }, ranges, gaps, forks, next: to < wanted ? to + 1 : null };
}

class Walk {
  readonly ranges: Range[] = [];
  readonly gaps: Gap[] = [];
  readonly forks: Fork[] = [];
  readonly #records: SourceRecords;
  #before: Before;

  constructor(records: SourceRecords, before: Before) {
    this.#records = records;
    this.#before = before;
  }

  async take(sourceSeq: number): Promise<void> {
    const found = await this.#records.at(sourceSeq);
    if (found.state !== 'whole') {
      this.#extendGap(sourceSeq, found.state);
      this.#before = 'unknown';
      return;
    }
    const { record, texts } = found;
    const follows = this.#before === 'unknown' || record.sourcePrev === this.#before;
    if (!follows) this.#fork(sourceSeq, record.id, record.sourcePrev);
    this.#extendRange(sourceSeq, follows);
    this.#before = writeSha256(recordLeaf(nativeSuite, texts.head));
  }

  /** The head names the last record: where one was changed or cut off, it does not. */
  takeHead(head: SourceHead | undefined, last: number): void {
    if (this.#before === 'unknown' || (head?.sourceSeq === last && head.leaf === this.#before)) return;
    this.#fork(last, null, head?.leaf ?? null);
  }

  #fork(sourceSeq: number, attestationId: RecordId | null, found: Sha256Hash | null): void {
    if (this.#before === 'unknown') return;
    this.forks.push({ sourceSeq, attestationId, expected: this.#before, found });
  }

  #extendGap(sourceSeq: number, reason: Gap['reason']): void {
    const last = this.gaps.at(-1);
    if (last?.to === sourceSeq - 1 && last.reason === reason) {
      this.gaps[this.gaps.length - 1] = { ...last, to: sourceSeq };
    } else this.gaps.push({ from: sourceSeq, to: sourceSeq, reason });
  }

  #extendRange(sourceSeq: number, follows: boolean): void {
    const last = this.ranges.at(-1);
    if (follows && last?.to === sourceSeq - 1) this.ranges[this.ranges.length - 1] = { ...last, to: sourceSeq };
    else this.ranges.push({ from: sourceSeq, to: sourceSeq });
  }
}

async function leafBefore(records: SourceRecords, sourceSeq: number): Promise<Before> {
  if (sourceSeq === 1) return null;
  const found = await records.at(sourceSeq - 1);
  return found.state === 'whole' ? writeSha256(recordLeaf(nativeSuite, found.texts.head)) : 'unknown';
}
