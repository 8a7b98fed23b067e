import type { Table } from '../store/table.ts';
import { RowCursor } from './row-cursor.ts';
import { reasonOf, type RowSource } from './rows.ts';

/** One thing of a row that holds several, in order of seq. */
export interface RunItem<Item> {
  /** Key of the row that holds it. */
  readonly key: string;
  readonly item: Item;
}

/** Rows that each hold several neighbouring records under the seq of the first: bodies and payloads. */
export class RowRuns<Value, Item> {
  readonly #source: RowSource;
  readonly #table: Table<Value>;
  readonly #cursor: RowCursor<Value>;
  readonly #keyOf: (seq: number) => string;
  readonly #split: (value: Value) => readonly Item[];

  constructor(
    source: RowSource,
    table: Table<Value>,
    prefix: readonly string[],
    split: (value: Value) => readonly Item[],
  ) {
    this.#source = source;
    this.#table = table;
    this.#cursor = new RowCursor(source, table, ...prefix);
    this.#keyOf = (seq) => table.key(...prefix, seq);
    this.#split = split;
  }

  /**
   * What the rows hold for `first` … `first + size - 1`: they must cover exactly these. Undefined where they do not,
   * which is then reported.
   */
  async take(first: number, size: number): Promise<readonly RunItem<Item>[] | undefined> {
    const items: RunItem<Item>[] = [];
    let isWhole = true;
    while (items.length < size) {
      const key = this.#keyOf(first + items.length);
      const value = await this.#cursor.take(key);
      const held = value === undefined ? undefined : this.#splitRow(key, value);
      if (held === undefined || held.length === 0) {
        isWhole = false;
        break;
      }
      for (const item of held) items.push({ key, item });
      if (items.length > size) this.#source.report.problem(this.#table.name, key, 'reaches past its group');
    }
    if (!isWhole || items.length !== size) {
      await this.#skipTo(first + size);
      return undefined;
    }
    return items;
  }

  /** Whether a row begins with this record. */
  async hasRowAt(first: number): Promise<boolean> {
    const key = this.#keyOf(first);
    await this.#cursor.strayBefore(key);
    return (await this.#cursor.peek())?.key === key;
  }

  async finish(): Promise<void> {
    await this.#cursor.finish();
  }

  #splitRow(key: string, value: Value): readonly Item[] | undefined {
    try {
      return this.#split(value);
    } catch (error) {
      this.#source.report.problem(this.#table.name, key, `does not read: ${reasonOf(error)}`);
      return undefined;
    }
  }

  /** The rest of a group whose rows are not whole was reported with it. */
  async #skipTo(seq: number): Promise<void> {
    const end = this.#keyOf(seq);
    for (let row = await this.#cursor.peek(); row !== undefined && row.key < end; row = await this.#cursor.peek()) {
      await this.#cursor.next();
    }
  }
}
