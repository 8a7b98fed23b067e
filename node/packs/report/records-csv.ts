import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { csvRow } from '../../../protocol/csv.ts';
import type { PackQuestion } from '../../../protocol/pack/manifest.ts';

/** Of `recordRow`. */
export const RECORD_COLUMNS = [
  'attestationId',
  'kind',
  'event',
  'sourceId',
  'sourceSeq',
  'node',
  'seq',
  'submittedAt',
  'modelId',
  'modelVersion',
  'systemId',
  'riskLevel',
  'confidenceScore',
  'environment',
  'agentId',
  'reviewOutcome',
  'severity',
  'about',
  'payloadHash',
] as const;

/** First line of `records.csv`, without its line end. */
export const CSV_HEAD = withoutEnd(csvRow(RECORD_COLUMNS));

/**
 * The line of a record in `records.csv`, without the line feed behind it; null of one that the table does not show: a
 * neighbour of the period, or one of a kind that was not asked for.
 */
export function csvLine(record: AttestationRecord, { from, to, kinds }: PackQuestion): string | null {
  const { submittedAt, kind } = record;
  if (submittedAt < from || submittedAt >= to || kinds?.includes(kind) === false) return null;
  return withoutEnd(recordRow(record));
}

/** A record as a row of CSV: what is signed of it in clear. */
export function recordRow({ claims, links, ...record }: AttestationRecord): string {
  const { original, decision, incident, session, lock, correctiveAction } = links;
  return csvRow([
    record.id,
    record.kind,
    claims.eventType ?? null,
    record.sourceId,
    record.sourceSeq,
    record.node,
    record.seq,
    record.submittedAt,
    claims.modelId ?? null,
    claims.modelVersion ?? null,
    claims.systemId ?? null,
    claims.riskLevel ?? null,
    claims.confidenceScore ?? null,
    claims.environment ?? null,
    claims.agentId ?? null,
    claims.reviewOutcome ?? null,
    claims.severity ?? null,
    original ?? decision ?? incident ?? session ?? lock ?? correctiveAction ?? null,
    record.payloadHash,
  ]);
}

/** A file of lines ends each with a line feed itself: what is left of CRLF is the carriage return. */
function withoutEnd(row: string): string {
  return row.slice(0, -1);
}
