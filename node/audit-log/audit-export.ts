import { hashText } from '../../protocol/hash.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { Store } from '../store/store.ts';
import { lineRange, type Period, readLine, readPieces } from './audit-reader.ts';
import { type CsvCell, csvRow } from './csv.ts';

/** `jsonl`: the lines that are hashed, to the byte, so it can be checked. `csv`: for reading; a cell may be escaped. */
export const AUDIT_EXPORT_FORMATS = ['csv', 'jsonl'] as const;
export type AuditExportFormat = (typeof AUDIT_EXPORT_FORMATS)[number];

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
 * it began.
 */
export async function* exportAuditLog(
  store: Store,
  account: string,
  format: AuditExportFormat,
  period: Period = {},
): AsyncGenerator<string> {
  const range = await lineRange(store, account, period);
  if (format === 'csv') yield csvRow(CSV_COLUMNS);
  for await (const lines of readPieces(store, account, range)) {
    yield lines.map((line) => (format === 'csv' ? csvRow(cellsOf(line)) : `${line}\n`)).join('');
  }
}

function cellsOf(line: string): CsvCell[] {
  const { entry, prev } = readLine(line);
  const { seq, at, by, action, status, subject, address, requestId, lost = null } = entry;
  return [seq, at, by, action, status, subject, address, requestId, lost, prev, hashText(nativeSuite, line)];
}
