import type { AuditExportFormat } from '../../../protocol/api/audit-log.ts';
import { hashText } from '../../../protocol/hash.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import type { Store } from '../../store/store.ts';
import { lineRange, type Period, readLine, readPieces } from './audit-reader.ts';

/** Rows of RFC 4180 end so. */
const ROW_END = '\r\n';
const NEEDS_QUOTES = /[",\r\n]/;
/** What spreadsheets take for the start of a formula, also behind white space and in full width. */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;

type CsvCell = string | number | null;

/**
 * One row of CSV (RFC 4180). A text that a spreadsheet would run as a formula gets a `'` in front of it; null is an
 * empty cell.
 */
function csvRow(cells: readonly CsvCell[]): string {
  return cells.map(csvCell).join(',') + ROW_END;
}

function csvCell(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const safe = FORMULA.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const CSV_COLUMNS = [
  'seq',
  'at',
  'by',
  'action',
  'status',
  'subject',
  'address',
  'requestId',
  'lost',
  'prev',
  'hash',
] as const;

/**
 * An account's key-use log as text, oldest first, in pieces of a few hundred kilobytes. Ends where the chain ended when
 * it began. Throws `AuditDamagedError`.
 */
export async function exportAuditLog(
  store: Store,
  account: string,
  format: AuditExportFormat,
  period: Period = {},
): Promise<AsyncGenerator<string>> {
  const range = await lineRange(store, account, period);
  const pieces = readPieces(store, account, range);
  return format === 'csv' ? asCsv(pieces) : asJsonLines(pieces);
}

async function* asJsonLines(pieces: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  for await (const lines of pieces) yield `${lines.join('\n')}\n`;
}

async function* asCsv(pieces: AsyncIterable<readonly string[]>): AsyncGenerator<string> {
  yield csvRow(CSV_COLUMNS);
  for await (const lines of pieces) yield lines.map((line) => csvRow(cellsOf(line))).join('');
}

function cellsOf(line: string): CsvCell[] {
  const { entry, prev } = readLine(line);
  const { seq, at, by, action, status, subject, address, requestId, lost = null } = entry;
  return [seq, at, by, action, status, subject, address, requestId, lost, prev, hashText(nativeSuite, line)];
}
