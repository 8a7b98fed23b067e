import type { Operation } from '../../store/operation.ts';
import { type Codec, Table } from '../../store/table.ts';

/** Records of consecutive seq. */
export interface SeqRun {
  readonly first: number;
  readonly count: number;
}

/**
 * Consecutive records of a source, and the leaf hash of the last of them, which the next record names as `sourcePrev`.
 */
export interface SourceRow {
  /** Seqs of the records, in order: neither empty nor adjacent. */
  readonly runs: readonly SeqRun[];
  readonly leaf: Uint8Array;
}

/**
 * Runs of one row: what a source has in a group beyond them stands in further rows, so that a row stays below a
 * kilobyte.
 */
export const MAX_ROW_RUNS = 64;
const LEAF_BYTES = 32;
/** A run as it is written: how far its first seq lies past the one before, and how many more records follow. */
const RUN = /^(\d+)(?:\+(\d+))?$/;

/** The leaf hash, then the runs in ASCII. A row is written for each source of each group, so writing it is cheap. */
const rowCodec: Codec<SourceRow> = {
  encode({ runs, leaf }) {
    const text = writeRuns(runs);
    const bytes = Buffer.allocUnsafe(LEAF_BYTES + text.length);
    bytes.set(leaf);
    bytes.write(text, LEAF_BYTES, 'latin1');
    return bytes;
  },
  decode(bytes) {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1', LEAF_BYTES);
    const runs = readRuns(text);
    if (runs === undefined) throw new TypeError('a stored row of a source has another form');
    return { runs, leaf: bytes.subarray(0, LEAF_BYTES) };
  },
};

/**
 * (account, source key, first sourceSeq) → seqs of this node's records of the source from there on, one row a group.
 * Rows follow one another without gap or overlap, and the first begins with 1; the last ends with the last record of
 * the source.
 */
export const sourceIndex = new Table('source-index', rowCodec);

/** Records of a row. */
export function countOf({ runs }: SourceRow): number {
  return runs.reduce((sum, { count }) => sum + count, 0);
}

/** Seq of the record so many places after the first of its row; undefined where the row does not reach so far. */
export function seqAt({ runs }: SourceRow, offset: number): number | undefined {
  let left = offset;
  for (const { first, count } of runs) {
    if (left < count) return first + left;
    left -= count;
  }
  return undefined;
}

interface OpenRow {
  readonly first: number;
  readonly runs: { first: number; count: number }[];
  /** `sourceSeq` of the record that would be next in it. */
  next: number;
  leaf: Uint8Array;
}

/** Gathers records of one source, in order, into rows for one write. */
export class SourceRows {
  readonly #account: string;
  readonly #source: string;
  readonly #rows: OpenRow[] = [];

  /** `source`: key part of the source. */
  constructor(account: string, source: string) {
    this.#account = account;
    this.#source = source;
  }

  add(sourceSeq: number, seq: number, leaf: Uint8Array): void {
    const row = this.#rows.at(-1);
    if (row === undefined || row.next !== sourceSeq || !extend(row.runs, seq)) {
      this.#rows.push({ first: sourceSeq, runs: [{ first: seq, count: 1 }], next: sourceSeq + 1, leaf });
      return;
    }
    row.next = sourceSeq + 1;
    row.leaf = leaf;
  }

  operations(): Operation[] {
    return this.#rows.map((row) => sourceIndex.put([this.#account, this.#source, row.first], row));
  }
}

/** Whether there was room. */
function extend(runs: OpenRow['runs'], seq: number): boolean {
  const last = runs.at(-1);
  if (last !== undefined && last.first + last.count === seq) {
    last.count++;
    return true;
  }
  return runs.length < MAX_ROW_RUNS && runs.push({ first: seq, count: 1 }) > 0;
}

function writeRuns(runs: readonly SeqRun[]): string {
  let text = '';
  let before = 0;
  for (const { first, count } of runs) {
    text += before === 0 ? first : ` ${first - before}`;
    if (count > 1) text += `+${count - 1}`;
    before = first + count - 1;
  }
  return text;
}

/** Undefined where the text is not what `writeRuns` writes of runs that are in order and apart. */
function readRuns(text: string): readonly SeqRun[] | undefined {
  const runs: SeqRun[] = [];
  let before = 0;
  for (const part of text.split(' ')) {
    const [, gap, more = '0'] = RUN.exec(part) ?? [];
    const run = { first: before + Number(gap), count: Number(more) + 1 };
    before = run.first + Number(more);
    const isApart = Number(gap) >= (runs.length === 0 ? 1 : 2);
    if (!isApart || !Number.isSafeInteger(before) || runs.push(run) > MAX_ROW_RUNS) return undefined;
  }
  return writeRuns(runs) === text ? runs : undefined;
}
