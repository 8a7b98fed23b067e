import type { AttestationRecord, WrittenRecord } from '../../../protocol/chain/record.ts';
import type { SourceHead } from '../../../protocol/chain/sources.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { sourceKey } from './sources.ts';
import { chainSourceTable, sourcePart } from '../chain-tables.ts';
import { tryOpenRecord } from '../record-reader.ts';
import { readTimeSteps, type TimeStep } from '../time-steps.ts';
import type { Reads } from '../../store/store.ts';
import type { BodyReader } from './body-reader.ts';
import { countOf, seqAt, sourceIndex, type SourceRow } from './source-index.ts';

/** Rows of the index that are read in one go. */
const ROWS_AT_ONCE = 64;

/**
 * One place of a source as the store has it. `missing`: nothing leads to a record; `damaged`: what is there is not it.
 */
export type FoundRecord = ({ readonly state: 'whole' } & WrittenRecord) | { readonly state: 'missing' | 'damaged' };

export interface SourceEnd {
  /** Undefined where the last row of the index cannot be read. */
  readonly head: SourceHead | undefined;
  /** `sourceSeq` of the last record; 0 where there is none. */
  readonly last: number;
}

/** What the records of a source are read from. */
export interface SourceReads {
  readonly store: Reads;
  readonly node: NodeId;
  readonly bodies: BodyReader;
}

/** A row of the index: it covers the places from `first` on, and before `end`. */
interface HeldRow {
  readonly first: number;
  readonly end: number;
  /** Undefined where it does not read; then it covers nothing. */
  readonly row: SourceRow | undefined;
}

/** The records of one source of an account on this node, in the source's own order. Reads; never writes. */
export class SourceRecords {
  readonly account: string;
  /** Key part of the source. */
  readonly source: string;
  readonly #reads: SourceReads;
  /** Neighbouring rows of the index, in order. */
  #held: readonly HeldRow[] = [];

  constructor(reads: SourceReads, account: string, source: string) {
    this.#reads = reads;
    this.account = account;
    this.source = source;
  }

  /**
   * Where the source ends: by its index, or by the last record of it that was sealed, where that lies further on and so
   * is missing in the index. `sourceId`: none where it is not known; then the last record of the index tells it.
   */
  async end(sourceId?: string): Promise<SourceEnd> {
    const end = await this.#indexed();
    const sealed = await this.#sealed(sourceId ?? (await this.#nameAt(end.last)));
    if (sealed === undefined || sealed.sourceSeq <= end.last) return end;
    // A record that is made and sealed meanwhile is in the index by now.
    const now = await this.#indexed();
    return now.last >= sealed.sourceSeq ? now : { head: sealed, last: sealed.sourceSeq };
  }

  async at(sourceSeq: number): Promise<FoundRecord> {
    const seq = await this.seqAt(sourceSeq);
    if (seq === undefined) return { state: 'missing' };
    const texts = await this.#reads.bodies.texts(seq);
    if (texts === undefined) return { state: 'missing' };
    const record = tryOpenRecord(texts);
    return record !== undefined && this.#isIn(record, seq, sourceSeq)
      ? { state: 'whole', record, texts }
      : { state: 'damaged' };
  }

  /** Seq of the record at a place; undefined where the index leads to none. */
  async seqAt(sourceSeq: number): Promise<number | undefined> {
    const at = this.#held.findLastIndex(({ first }) => first <= sourceSeq);
    const held = this.#held[at];
    if (held !== undefined && sourceSeq < held.end) return seqIn(held, sourceSeq);
    // Between two neighbouring rows there is nothing.
    if (held !== undefined && at < this.#held.length - 1) return undefined;
    if (held !== undefined && held.end === sourceSeq) {
      this.#held = [held, ...(await this.#following(sourceSeq))];
    } else {
      const row = await this.#covering(sourceSeq);
      this.#held = row === undefined ? [] : [row];
    }
    const row = this.#held.findLast(({ first }) => first <= sourceSeq);
    return row && seqIn(row, sourceSeq);
  }

  /** Where the times of the node's records go back. */
  timeSteps(): Promise<readonly TimeStep[]> {
    return readTimeSteps(this.#reads.store, this.#reads.node);
  }

  async #indexed(): Promise<SourceEnd> {
    const row = await this.#covering(Number.MAX_SAFE_INTEGER);
    if (row === undefined) return { head: undefined, last: 0 };
    this.#held = [row];
    if (row.row === undefined) return { head: undefined, last: row.first };
    const last = row.end - 1;
    return { head: { sourceSeq: last, leaf: writeSha256(row.row.leaf) }, last };
  }

  /** The last record up to the last batch that was sealed. */
  async #sealed(sourceId: string | undefined): Promise<SourceHead | undefined> {
    if (sourceId === undefined) return undefined;
    const { store, node } = this.#reads;
    try {
      return await chainSourceTable.get(store, node, sourcePart({ account: this.account, sourceId }));
    } catch {
      return undefined;
    }
  }

  async #nameAt(sourceSeq: number): Promise<string | undefined> {
    const found = await this.at(sourceSeq);
    return found.state === 'whole' ? found.record.sourceId : undefined;
  }

  #isIn(record: AttestationRecord, seq: number, sourceSeq: number): boolean {
    return (
      record.seq === seq &&
      record.sourceSeq === sourceSeq &&
      record.account === this.account &&
      sourceKey(record.sourceId) === this.source
    );
  }

  /** The last row that begins at a place or before it. */
  async #covering(sourceSeq: number): Promise<HeldRow | undefined> {
    const row = await this.#reads.store.first({
      gte: sourceIndex.key(this.account, this.source, 0),
      lte: sourceIndex.key(this.account, this.source, sourceSeq),
      reverse: true,
    });
    return row && heldRow(row);
  }

  async #following(sourceSeq: number): Promise<readonly HeldRow[]> {
    const rows = this.#reads.store.range({
      gte: sourceIndex.key(this.account, this.source, sourceSeq),
      lte: sourceIndex.key(this.account, this.source, Number.MAX_SAFE_INTEGER),
      limit: ROWS_AT_ONCE,
    });
    return Array.fromAsync(rows, heldRow);
  }
}

function seqIn({ first, row }: HeldRow, sourceSeq: number): number | undefined {
  return row && seqAt(row, sourceSeq - first);
}

function heldRow([key, bytes]: readonly [key: string, bytes: Uint8Array]): HeldRow {
  const first = Number(key.slice(key.lastIndexOf('/') + 1));
  try {
    const row = sourceIndex.decode(bytes);
    return { first, end: first + countOf(row), row };
  } catch {
    return { first, end: first, row: undefined };
  }
}
