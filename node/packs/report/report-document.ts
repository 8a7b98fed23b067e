/** What a report says, before it is drawn: the page and the PDF are made of the same. All texts are plain. */
export interface ReportDocument {
  readonly title: string;
  /** In order, for the cover: a name and what it is. */
  readonly cover: readonly (readonly [name: string, text: string])[];
  readonly introduction: readonly string[];
  readonly sections: readonly ReportSection[];
}

export interface ReportSection {
  /** Of the heading, for links within the page. */
  readonly id: string;
  readonly title: string;
  readonly paragraphs: readonly string[];
  readonly tables: readonly ReportTable[];
}

export interface ReportTable {
  readonly caption: string;
  readonly columns: readonly string[];
  /** Each as long as there are columns. */
  readonly rows: readonly (readonly string[])[];
  /** Rows that are left out; they stand in the files of the pack. */
  readonly omitted: number;
}

/** Rows that a table shows. */
export const MAX_TABLE_ROWS = 500;

/** A table of the first rows of many. */
export function tableOf<Item>(
  caption: string,
  columns: readonly string[],
  items: readonly Item[],
  row: (item: Item) => readonly string[],
): ReportTable {
  const rows = items.slice(0, MAX_TABLE_ROWS).map(row);
  return { caption, columns, rows, omitted: items.length - rows.length };
}

/** What is said below a table that does not show all; null where it does. */
export function omittedWords({ omitted }: ReportTable): string | null {
  return omitted === 0 ? null : `${omitted} more are not shown here; all records are in records.jsonl.`;
}

/** What is said where there are more records of some kinds than a report looks at; nothing where there are not. */
export function cutWords(kinds: readonly string[]): readonly string[] {
  if (kinds.length === 0) return [];
  return [`Of these kinds the first records alone are looked at one by one, and there are more: ${kinds.join(', ')}.`];
}

/** An RFC 3339 time in UTC as people write it; nothing where there is none. */
export function timeWords(at: string | null | undefined): string {
  return at === null || at === undefined ? '' : at.replace('T', ' ').replace(/Z$/, ' UTC');
}
