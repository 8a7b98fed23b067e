import type { AuditExportFormat } from '../../../protocol/api/audit-log.ts';
import { type CsvCell, csvRow } from '../../../protocol/csv.ts';
import { hashText } from '../../../protocol/hash.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import type { Reads } from '../../store/store.ts';
import { lineRange, type Period, readLine, readPieces } from './audit-reader.ts';

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
  store: Reads,
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
