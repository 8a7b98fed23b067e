import type { Table } from '../store/table.ts';
import { countRows, decodeRow, readRows, type Row, type RowSource } from './rows.ts';

/** A row that there must be, and what it must hold. */
export interface ExpectedRow<Value> {
  readonly key: string;
  readonly value: Value;
}

/**
 * An index over records, proven both ways in bounded memory: every record's row is looked up, and where the table then
 * has more rows than were found right, each row is asked what it belongs to.
 */
export class IndexWalk<Value extends number | string> {
  readonly #source: RowSource;
  readonly #table: Table<Value>;
  #right = 0;

  constructor(source: RowSource, table: Table<Value>) {
    this.#source = source;
    this.#table = table;
  }

  async expect(rows: readonly ExpectedRow<Value>[]): Promise<void> {
    const { store } = this.#source;
    const texts = await store.getTexts(rows.map(({ key }) => key));
    for (const [i, row] of rows.entries()) {
      const text = texts[i];
      if (text === String(row.value)) this.#right++;
      else this.#compare(row, text === undefined ? text : await store.get(row.key));
    }
  }

  /** By its bytes: of a row that has not the text that such rows are written with. */
  #compare({ key, value }: ExpectedRow<Value>, bytes: Uint8Array | undefined): void {
    const { report } = this.#source;
    if (bytes === undefined) return report.problem(this.#table.name, key, 'is missing');
    const held = decodeRow(report, this.#table, key, bytes);
    if (held === value) this.#right++;
    else if (held !== undefined) report.problem(this.#table.name, key, `holds ${held}, not ${value}`);
  }

  /** `belongs` tells of any row whether there is something behind it: a record, where nothing else is said. */
  async finish(belongs: (row: Row<Value>) => Promise<boolean>, what = 'record'): Promise<void> {
    if ((await countRows(this.#source, this.#table)) === this.#right) return;
    for await (const row of readRows(this.#source, this.#table)) {
      if (row.value === undefined || (await belongs(row))) continue;
      this.#source.report.problem(this.#table.name, row.key, `belongs to no ${what}`);
    }
  }
}
