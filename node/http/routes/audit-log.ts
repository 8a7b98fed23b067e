import Type from 'typebox';
import { Readable } from 'node:stream';
import {
  AUDIT_LOG_EXAMPLE,
  type AuditExportFormat,
  AuditExportQueryShape,
  type AuditLogAnswer,
  AuditLogAnswerShape,
  AuditLogQueryShape,
  DEFAULT_AUDIT_PAGE,
  MAX_AUDIT_PAGE,
} from '../../../protocol/api/audit-log.ts';
import { hashText } from '../../../protocol/hash.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { OrdinalShape } from '../../../protocol/shapes.ts';
import { exportAuditLog } from '../../accounts/audit-log/audit-export.ts';
import { type Period, readAuditPage, readLine } from '../../accounts/audit-log/audit-reader.ts';
import type { Caller } from '../../accounts/caller.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import type { Store } from '../../store/store.ts';
import { ExportReaders } from '../export-readers.ts';
import { queryReader, readPeriod } from '../query.ts';
import { FilteredCursor } from '../page-cursor.ts';
import type { KeyRoute, ParameterDocumentation } from '../route.ts';
import { requireWholeAccount } from '../whole-account.ts';

const CONTENT_TYPES: Readonly<Record<AuditExportFormat, string>> = {
  jsonl: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present',
};

/** By the number of an entry. */
const CURSOR = new FilteredCursor(Type.Tuple([OrdinalShape]), [2]);

const PERIOD_PARAMETERS = {
  from: parameter('Entries from this time or day on.', AuditLogQueryShape.properties.from, '2026-11-20T00:00:00Z'),
  to: parameter('Entries before this time or day.', AuditLogQueryShape.properties.to, '2026-11-21T00:00:00Z'),
};

/**
 * `GET /v1/audit-log`: a page of the account's key-use log. What was noted in the last moments may not be in it yet.
 */
export function auditLogRoute(store: Store): KeyRoute {
  const readQuery = queryReader(AuditLogQueryShape);
  return {
    method: 'GET',
    path: '/v1/audit-log',
    access: 'key',
    scope: 'audit:read',
    documentation: {
      summary: 'What the keys of the account did',
      description:
        'One append-only log for each account: every use of a key and every change of a key. Each entry names the ' +
        'hash of the one before; the hash of a UTC day’s last entry is attested as a `key_event`. Newest first.',
      query: {
        ...PERIOD_PARAMETERS,
        order: parameter('`newest` (default) or `oldest` first.', AuditLogQueryShape.properties.order, 'newest'),
        cursor: CURSOR.parameter,
        limit: parameter(`At most ${MAX_AUDIT_PAGE}.`, AuditLogQueryShape.properties.limit, '100'),
      },
      answer: { shape: AuditLogAnswerShape, example: AUDIT_LOG_EXAMPLE },
      problems: ['invalid-field', 'time-order'],
    },
    async answer({ query }, caller) {
      const account = accountOf(caller);
      const { order = 'newest', cursor, limit = DEFAULT_AUDIT_PAGE, ...times } = readQuery(query);
      const filters = { ...periodOf(times), order };
      const [after] = CURSOR.read(cursor, filters) ?? [];
      const page = { ...filters, after, limit };
      const { lines, hasMore } = await readAuditPage(store, account, page);
      const entries = lines.map(entryOf);
      const last = entries.at(-1);
      const nextCursor = hasMore && last !== undefined ? CURSOR.write([last.seq], filters) : null;
      const body: AuditLogAnswer = { success: true, account, entries, nextCursor };
      return { body };
    },
  };
}

/** `GET /v1/audit-log/export`: the whole of a period as a file, oldest first. */
export function auditExportRoute(store: Store): KeyRoute {
  const readQuery = queryReader(AuditExportQueryShape);
  const readers = new ExportReaders();
  const { format, from, to } = AuditExportQueryShape.properties;
  return {
    method: 'GET',
    path: '/v1/audit-log/export',
    access: 'key',
    scope: 'audit:read',
    documentation: {
      summary: 'The key-use log as a file',
      description:
        'JSONL: each line is the text that was hashed; its hash is the SHA-256 of the line without its line feed, ' +
        'and stands in the next line as `prev`. CSV: for reading; a text that a spreadsheet would run as a formula ' +
        'begins with an apostrophe. Oldest first.',
      query: {
        format: parameter('`jsonl` (default) or `csv`.', format, 'jsonl'),
        from: { ...PERIOD_PARAMETERS.from, shape: from },
        to: { ...PERIOD_PARAMETERS.to, shape: to },
      },
      answer: {
        contentType: CONTENT_TYPES.jsonl,
        example: EXAMPLE_LINE,
        others: { [CONTENT_TYPES.csv]: EXAMPLE_CSV },
      },
      headers: ['Content-Disposition'],
      problems: ['invalid-field', 'time-order'],
    },
    async answer({ query }, caller) {
      const account = accountOf(caller);
      const { format: asked = 'jsonl', ...times } = readQuery(query);
      const period = periodOf(times);
      const release = readers.enter(account);
      try {
        const pieces = await exportAuditLog(store, account, asked, period);
        const body = Readable.from(pieces).once('close', release);
        const disposition = `attachment; filename="audit-log-${account}.${asked}"`;
        const headers = { 'Content-Type': CONTENT_TYPES[asked], 'Content-Disposition': disposition };
        return { body, headers };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

const EXAMPLE_LINE =
  '{"entry":{"action":"key.created","address":null,"at":"2026-11-21T09:30:00.000Z","by":"operator","requestId":null,' +
  '"seq":1,"status":null,"subject":"key_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9MB","v":1},' +
  '"prev":"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}\n';

const EXAMPLE_CSV =
  'seq,at,by,action,status,subject,address,requestId,lost,prev,hash\r\n' +
  '1,2026-11-21T09:30:00.000Z,operator,key.created,,key_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9MB,,,,' +
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08,' +
  'sha256:60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752\r\n';

/** Whose log a caller is given. Throws `Problem` 403 for a key that is limited to a part of the account. */
function accountOf({ account, key }: Caller): string {
  requireWholeAccount({ key }, 'The key-use log is of all sources and times');
  return account.id;
}

function entryOf(line: string): AuditLogAnswer['entries'][number] {
  const { entry, prev } = readLine(line);
  const { seq, at, by, action, status, subject, address, requestId, lost = null } = entry;
  return { seq, at, by, action, status, subject, address, requestId, lost, prev, hash: hashText(nativeSuite, line) };
}

/** Throws `Problem` 400. */
function periodOf(times: { readonly from?: string; readonly to?: string }): Period {
  const { from, to } = readPeriod(times);
  return { from: from === undefined ? from : timestampOf(from), to: to === undefined ? to : timestampOf(to) };
}

function parameter(
  description: string,
  shape: ParameterDocumentation['shape'],
  example: string,
): ParameterDocumentation {
  return { description, shape, example };
}
