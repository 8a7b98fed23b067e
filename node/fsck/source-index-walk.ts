import { equalBytes } from '../../protocol/bytes.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { recordLeaf } from '../../protocol/chain/record.ts';
import { sourceKey } from '../records/sources/sources.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { tryOpenRecord } from '../records/record-reader.ts';
import { BodyReader } from '../records/sources/body-reader.ts';
import { countOf, seqAt, sourceIndex, type SourceRow } from '../records/sources/source-index.ts';
import type { Check } from './check.ts';
import type { RecordFacts } from './record-facts.ts';
import { countRows, decodeRow, readRows } from './rows.ts';

/** A row that the walk has come to, and whose last record it has not reached. */
export interface OpenRow {
  readonly key: string;
  readonly row: SourceRow;
  /** Places in the source that it covers: from `first` on, before `end`. */
  readonly first: number;
  readonly end: number;
  /** It was reported. */
  isWrong: boolean;
}

/** What the rows of a source have come to: a row is open, the next one is due, or where it begins is not known. */
export type IndexState = OpenRow | 'due' | 'lost';

/** A record, its leaf and the key part of its source. */
interface PlacedRecord {
  readonly record: RecordFacts;
  readonly leaf: Uint8Array;
  readonly source: string;
}

/**
 * The index of the own sources, proven both ways: each record is looked for at its place in the row that covers it, the
 * last one of a row has its leaf, and where the table has more rows than were found right, each is read by itself.
 */
export class SourceIndexWalk {
  readonly #check: Check;
  readonly #node: NodeId;
  /** Rows that are right from their first record to their last. */
  #right = 0;

  constructor(check: Check, node: NodeId) {
    this.#check = check;
    this.#node = node;
  }

  /** Takes the next record of a source; `state` is what the one before came to. */
  async take(placed: PlacedRecord, state: IndexState): Promise<IndexState> {
    const { record, source } = placed;
    const { sourceSeq } = record;
    const isIn = typeof state === 'object' && sourceSeq >= state.first && sourceSeq < state.end;
    const open = isIn ? state : await this.#open(record, source, state === 'lost');
    return open === undefined ? 'lost' : this.#takeIn(open, placed);
  }

  /** The row that covers a place, or the last one before it; undefined where there is none, or it does not read. */
  async rowAt(account: string, source: string, sourceSeq: number): Promise<OpenRow | undefined> {
    const last = await sourceIndex.last(this.#check.store, [account, source], sourceSeq).catch(() => undefined);
    return last && openRow(sourceIndex.key(account, source, Number(last[0])), Number(last[0]), last[1]);
  }

  /** After the last record: no row is left over, and none lies over another. */
  async finish(): Promise<void> {
    if ((await countRows(this.#check, sourceIndex)) === this.#right) return;
    const { report, store } = this.#check;
    const bodies = new BodyReader(store, this.#node);
    let before = { source: '', end: 0 };
    for await (const { key, parts, value } of readRows(this.#check, sourceIndex)) {
      if (value === undefined) continue;
      const source = parts.slice(0, -1).join('/');
      const row = openRow(key, Number(parts.at(-1)), value);
      if (!(await this.#belongs(bodies, source, row))) report.problem(sourceIndex.name, key, 'belongs to no record');
      else if (source === before.source && row.first < before.end) {
        report.problem(sourceIndex.name, key, 'lies over the row before');
      }
      before = { source, end: row.end };
    }
  }

  async #open({ shared, sourceSeq }: RecordFacts, source: string, isLost: boolean): Promise<OpenRow | undefined> {
    const { store, report } = this.#check;
    const key = sourceIndex.key(shared.account, source, sourceSeq);
    const bytes = await store.get(key);
    if (bytes === undefined) {
      if (!isLost) report.problem(sourceIndex.name, key, 'is missing');
      return undefined;
    }
    const row = decodeRow(report, sourceIndex, key, bytes);
    return row && openRow(key, sourceSeq, row);
  }

  #takeIn(open: OpenRow, { record, leaf }: PlacedRecord): IndexState {
    const { sourceSeq, seq } = record;
    const held = seqAt(open.row, sourceSeq - open.first);
    if (held !== seq) this.#wrong(open, `holds ${held}, not ${seq}`);
    if (sourceSeq < open.end - 1) return open;
    if (!equalBytes(open.row.leaf, leaf)) this.#wrong(open, `has another leaf than record ${seq}`);
    if (!open.isWrong) this.#right++;
    return 'due';
  }

  #wrong(open: OpenRow, detail: string): void {
    if (!open.isWrong) this.#check.report.problem(sourceIndex.name, open.key, detail);
    open.isWrong = true;
  }

  /** Whether all that a row names is there, under its source and in its place. */
  async #belongs(bodies: BodyReader, source: string, { key, row, first, end }: OpenRow): Promise<boolean> {
    if (key !== sourceIndex.key(source, first)) return false;
    for (let sourceSeq = first; sourceSeq < end; sourceSeq++) {
      this.#check.signal?.throwIfAborted();
      const seq = seqAt(row, sourceSeq - first);
      const texts = seq === undefined ? undefined : await bodies.texts(seq);
      const record = texts && tryOpenRecord(texts);
      if (texts === undefined || record === undefined || record.sourceSeq !== sourceSeq) return false;
      if (`${record.account}/${sourceKey(record.sourceId)}` !== source) return false;
      if (sourceSeq === end - 1 && !equalBytes(recordLeaf(nativeSuite, texts.head), row.leaf)) return false;
    }
    return true;
  }
}

function openRow(key: string, first: number, row: SourceRow): OpenRow {
  return { key, row, first, end: first + countOf(row), isWrong: false };
}
