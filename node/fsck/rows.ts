import type { Store } from '../store/store.ts';
import type { KeyPart, Table } from '../store/table.ts';
import type { Report } from './report.ts';

/** What every reader of rows needs. */
export interface RowSource {
  readonly store: Store;
  readonly report: Report;
  readonly signal: AbortSignal | undefined;
}

/** What rows are read by. */
export type RowTable<Value> = Pick<Table<Value>, 'decode' | 'key' | 'name'>;

export interface Row<Value> {
  readonly key: string;
  /** Parts of the key after those that were asked for. */
  readonly parts: readonly string[];
  /** Undefined where the bytes do not read; then it was reported. */
  readonly value: Value | undefined;
}

/** Sorts right after `/`: the end of everything below a key. */
const AFTER_SLASH = '0';
/** Rows counted between two looks at the signal. */
const ROWS_BETWEEN_LOOKS = 10_000;

/** Rows below a prefix of key parts, in key order. A row that does not read is reported and yielded without value. */
export async function* readRows<Value>(
  { store, report, signal }: RowSource,
  table: RowTable<Value>,
  ...prefix: readonly KeyPart[]
): AsyncGenerator<Row<Value>> {
  const under = table.key(...prefix);
  for await (const [key, bytes] of store.range({ gte: `${under}/`, lt: under + AFTER_SLASH })) {
    signal?.throwIfAborted();
    const parts = key.slice(under.length + 1).split('/');
    yield { key, parts, value: decodeRow(report, table, key, bytes) };
  }
}

/** Reads a row's bytes; reports them where they are not of the table's form. */
export function decodeRow<Value>(
  report: Report,
  table: RowTable<Value>,
  key: string,
  bytes: Uint8Array,
): Value | undefined {
  try {
    return table.decode(bytes);
  } catch (error) {
    report.problem(table.name, key, `does not read: ${reasonOf(error)}`);
    return undefined;
  }
}

/** Number of rows below a prefix of key parts, whatever is in them. */
export async function countRows(
  { store, signal }: RowSource,
  table: Pick<Table<unknown>, 'key'>,
  ...prefix: readonly KeyPart[]
): Promise<number> {
  const under = table.key(...prefix);
  let rows = 0;
  for await (const _ of store.range({ gte: `${under}/`, lt: under + AFTER_SLASH })) {
    rows++;
    if (rows % ROWS_BETWEEN_LOOKS === 0) signal?.throwIfAborted();
  }
  return rows;
}

/**
 * The distinct parts that follow a prefix (a table's name and further parts), found by leaping from one to the next.
 */
export async function* distinctParts(store: Pick<Store, 'first'>, prefix: string): AsyncGenerator<string> {
  const under = prefix === '' ? '' : `${prefix}/`;
  const end = prefix === '' ? {} : { lt: prefix + AFTER_SLASH };
  let row = await store.first({ gte: under, ...end });
  while (row !== undefined) {
    const [part = ''] = row[0].slice(under.length).split('/');
    yield part;
    row = await store.first({ gte: under + part + AFTER_SLASH, ...end });
  }
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
