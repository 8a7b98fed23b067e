/** Rows of RFC 4180 end so. */
const ROW_END = '\r\n';
const NEEDS_QUOTES = /[",\r\n]/;
/** What spreadsheets take for the start of a formula, also behind white space and in full width. */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;

export type CsvCell = string | number | null;

/**
 * One row of CSV (RFC 4180). A text that a spreadsheet would run as a formula gets a `'` in front of it; null is an
 * empty cell.
 */
export function csvRow(cells: readonly CsvCell[]): string {
  return cells.map(csvCell).join(',') + ROW_END;
}

function csvCell(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const safe = FORMULA.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
