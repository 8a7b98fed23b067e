import type { KeyPart } from '../store/table.ts';
import { readRows, type Row, type RowSource, type RowTable } from './rows.ts';

/**
 * Walks the rows of a table beside something that says which rows there must be, in key order: a row that is not asked
 * for is reported as stray, one that is not there as missing. Keys asked for are ASCII, as all keys of a node are.
 */
export class RowCursor<Value> {
  readonly #source: RowSource;
  readonly #table: RowTable<Value>;
  readonly #rows: AsyncGenerator<Row<Value>>;
  #held: Row<Value> | undefined;

  constructor(source: RowSource, table: RowTable<Value>, ...prefix: readonly KeyPart[]) {
    this.#source = source;
    this.#table = table;
    this.#rows = readRows(source, table, ...prefix);
  }

  /** The next row, whatever it is. */
  async peek(): Promise<Row<Value> | undefined> {
    if (this.#held === undefined) {
      const next = await this.#rows.next();
      this.#held = next.done === true ? undefined : next.value;
    }
    return this.#held;
  }

  async next(): Promise<Row<Value> | undefined> {
    const row = await this.peek();
    this.#held = undefined;
    return row;
  }

  /** The row of this key; undefined where it is missing or does not read, which is then reported. */
  async take(key: string): Promise<Value | undefined> {
    await this.strayBefore(key);
    const row = await this.peek();
    if (row?.key === key) return (await this.next())?.value;
    this.#source.report.problem(this.#table.name, key, 'is missing');
    return undefined;
  }

  /** Reports the rows before a key: nobody asked for them. */
  async strayBefore(key: string): Promise<void> {
    for (let row = await this.peek(); row !== undefined && row.key < key; row = await this.peek()) {
      this.#source.report.problem(this.#table.name, row.key, 'belongs to nothing');
      await this.next();
    }
  }

  /** Passes over rows whose owner was reported already. */
  async skipUnder(key: string): Promise<void> {
    await this.strayBefore(key);
    for (let row = await this.peek(); row?.key.startsWith(`${key}/`) === true; row = await this.peek()) {
      await this.next();
    }
  }

  /** Reports all that is left. */
  async finish(): Promise<void> {
    await this.strayBefore('\u{10ffff}');
  }
}
