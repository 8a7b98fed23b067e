import { Readable } from 'node:stream';
import { type RecordExportFormat, RecordExportQueryShape } from '../../../protocol/api/attestations.ts';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import { csvRow } from '../../../protocol/csv.ts';
import { RECORD_COLUMNS, recordRow } from '../../packs/report/records-csv.ts';
import type { Place, RecordFilter, RecordLists } from '../../records/sources/record-page.ts';
import { ExportReaders } from '../export-readers.ts';
import { queryReader } from '../query.ts';
import type { KeyRoute } from '../route.ts';
import { acceptanceOf, FACT_PARAMETERS, listFilter } from './record-listing.ts';

/** Records that are read at once. */
const PAGE_RECORDS = 200;

const CONTENT_TYPES: Readonly<Record<RecordExportFormat, string>> = {
  jsonl: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present',
};
const { format: FORMAT, sourceId: SOURCE, from: FROM, to: TO, kind: KIND } = RecordExportQueryShape.properties;

export interface RecordExportServices {
  readonly lists: Pick<RecordLists, 'page'>;
  readonly now: () => number;
}

/** `GET /v1/attestations/export`: the account's records on this node as a file, as they are listed. */
export function attestationExportRoute({ lists, now }: RecordExportServices): KeyRoute {
  const readQuery = queryReader(RecordExportQueryShape);
  const readers = new ExportReaders();
  return {
    method: 'GET',
    path: '/v1/attestations/export',
    access: 'key',
    scope: 'export:read',
    documentation: {
      summary: 'The records of the account on this node as a file',
      description:
        'In the order of `GET /v1/attestations`, with what is signed of each in clear and without its content. JSONL: a ' +
        'record a line; CSV: for reading, a text that a spreadsheet would run as a formula begins with an apostrophe. ' +
        'Records that cannot be read are left out: `GET /v1/sources/:id/continuity` names them.',
      query: {
        format: { description: '`jsonl` (default) or `csv`.', shape: FORMAT, example: 'jsonl' },
        sourceId: { description: 'One source.', shape: SOURCE, example: EXAMPLE_IDS.source },
        from: { description: 'Records from this time or day on.', shape: FROM, example: '2026-11-20T00:00:00Z' },
        to: { description: 'Records before this time or day.', shape: TO, example: '2026-11-22T00:00:00Z' },
        kind: { description: 'Records of one kind.', shape: KIND, example: 'decision' },
        ...FACT_PARAMETERS,
      },
      answer: {
        contentType: CONTENT_TYPES.jsonl,
        example: EXAMPLE_LINE,
        others: { [CONTENT_TYPES.csv]: csvRow(RECORD_COLUMNS) },
      },
      headers: ['Content-Disposition'],
      problems: ['invalid-field', 'time-order', 'proof-window-expired'],
    },
    async answer({ query }, caller) {
      const { format = 'jsonl', kind, modelId, riskLevel, agentId, sessionId, ...asked } = readQuery(query);
      const accepts = acceptanceOf({ kind, modelId, riskLevel, agentId, sessionId });
      const { filter } = listFilter(caller, asked, now(), accepts);
      const release = readers.enter(caller.account.id);
      const body = Readable.from(linesOf(lists, filter, format)).once('close', release);
      const disposition = `attachment; filename="attestations-${caller.account.id}.${format}"`;
      return { body, headers: { 'Content-Type': CONTENT_TYPES[format], 'Content-Disposition': disposition } };
    },
  };
}

/** A page of records at a time: nothing of the store is held between two of them. */
async function* linesOf(
  lists: RecordExportServices['lists'],
  filter: RecordFilter,
  format: RecordExportFormat,
): AsyncGenerator<string> {
  if (format === 'csv') yield csvRow(RECORD_COLUMNS);
  let from: Place | undefined;
  do {
    const { records, next } = await lists.page(filter, from, PAGE_RECORDS);
    const lines = records.map((record) => {
      if (format === 'csv') return recordRow(record);
      const { id, kind, node, sourceId, sourceSeq, submittedAt, claims, links } = record;
      const place = { node, sourceId, sourceSeq, submittedAt };
      return `${JSON.stringify({ attestationId: id, recordKind: kind, ...place, claims, links })}\n`;
    });
    if (lines.length > 0) yield lines.join('');
    from = next ?? undefined;
  } while (from !== undefined);
}

const EXAMPLE_LINE = `${JSON.stringify({
  attestationId: EXAMPLE_IDS.decision,
  recordKind: 'decision',
  node: 'eu',
  sourceId: EXAMPLE_IDS.source,
  sourceSeq: 1042,
  submittedAt: '2026-11-21T09:30:00.000Z',
  claims: { channel: 'direct', eventType: 'DECISION' },
  links: {},
})}\n`;
