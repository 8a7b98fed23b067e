import type { Table } from '../store/table.ts';
import type { Report } from './report.ts';
import { RowCursor } from './row-cursor.ts';
import { reasonOf, type RowSource, type RowTable } from './rows.ts';

/** A row as it lies in the store. */
export interface StoredRow {
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** The rows of neighbouring records, in key order. Some may be missing, and some may stand at no record. */
export interface StoredRun {
  readonly first: number;
  readonly size: number;
  readonly rows: readonly StoredRow[];
}

/** One thing of a row that holds several, in order of seq. */
export interface RunItem<Item> {
  /** First record of the row that holds it. */
  readonly row: number;
  readonly item: Item;
}

/**
 * Reads rows that each hold several neighbouring records under the seq of the first, run by run: bodies and payloads.
 */
export class RunReader {
  readonly #cursor: RowCursor<Uint8Array>;
  readonly #keyOf: (seq: number) => string;

  constructor(source: RowSource, table: Table<unknown>, ...prefix: readonly string[]) {
    const asStored: RowTable<Uint8Array> = {
      name: table.name,
      key: (...parts) => table.key(...parts),
      decode: (bytes) => bytes,
    };
    this.#cursor = new RowCursor(source, asStored, ...prefix);
    this.#keyOf = (seq) => table.key(...prefix, seq);
  }

  /** The rows from `first` up to `first + size - 1`. Those before belong to nothing, which is reported. */
  async take(first: number, size: number): Promise<StoredRun> {
    await this.#cursor.strayBefore(this.#keyOf(first));
    const rows: StoredRow[] = [];
    const end = this.#keyOf(first + size);
    for (let row = await this.#cursor.peek(); row !== undefined && row.key < end; row = await this.#cursor.peek()) {
      if (row.value !== undefined) rows.push({ key: row.key, bytes: row.value });
      await this.#cursor.next();
    }
    return { first, size, rows };
  }

  /** Reports all that is left. */
  async finish(): Promise<void> {
    await this.#cursor.finish();
  }
}

/** A table whose rows are runs: where each stands, and what is in it. */
export interface RunTable<Item> {
  readonly name: string;
  readonly keyOf: (seq: number) => string;
  readonly split: (bytes: Uint8Array) => readonly Item[];
}

/** Whether a row begins with the first record of the run. */
export function hasRowAt({ first, rows }: StoredRun, { keyOf }: Pick<RunTable<unknown>, 'keyOf'>): boolean {
  const key = keyOf(first);
  return rows.some((row) => row.key === key);
}

/**
 * What the rows of a run hold, row by row, each opened as it is come to. They must cover it exactly: where they do not,
 * that is reported, and fewer items come than the run has.
 */
export function* itemsOf<Item>(
  report: Report,
  { name, keyOf, split }: RunTable<Item>,
  { first, size, rows }: StoredRun,
): Generator<RunItem<Item>, void> {
  const left = rows[Symbol.iterator]();
  let taken = 0;
  while (taken < size) {
    const at = first + taken;
    const key = keyOf(at);
    const row = rowAt(report, name, key, left);
    const held = row && splitRow(report, name, split, row);
    if (held === undefined) return;
    if (held.length === 0) return report.problem(name, key, 'is empty');
    if (taken + held.length > size) return report.problem(name, key, 'reaches past its group');
    for (const item of held) yield { row: at, item };
    taken += held.length;
  }
  reportStray(report, name, left);
}

/** The same, together; undefined where they do not cover the run. */
export function allItemsOf<Item>(
  report: Report,
  table: RunTable<Item>,
  run: StoredRun,
): readonly RunItem<Item>[] | undefined {
  const items = [...itemsOf(report, table, run)];
  return items.length === run.size ? items : undefined;
}

/** Rows that nothing asks for. */
export function reportStray(report: Report, name: string, rows: Iterable<StoredRow>): void {
  for (const { key } of rows) report.problem(name, key, 'belongs to nothing');
}

/** The row of this key, those before it passed over; undefined where it is missing. All else is reported. */
function rowAt(report: Report, name: string, key: string, left: Iterator<StoredRow>): StoredRow | undefined {
  for (let next = left.next(); next.done !== true; next = left.next()) {
    if (next.value.key === key) return next.value;
    if (next.value.key > key) break;
    reportStray(report, name, [next.value]);
  }
  report.problem(name, key, 'is missing');
  return undefined;
}

function splitRow<Item>(
  report: Report,
  name: string,
  split: (bytes: Uint8Array) => readonly Item[],
  { key, bytes }: StoredRow,
): readonly Item[] | undefined {
  try {
    return split(bytes);
  } catch (error) {
    report.problem(name, key, `does not read: ${reasonOf(error)}`);
    return undefined;
  }
}
