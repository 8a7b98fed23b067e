import type { AlertEvent } from '../../../protocol/api/webhooks.ts';
import { isJsonArray, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';

/** What a mail has above the notices of an event. */
export const NOTICE_TITLES: Readonly<Record<AlertEvent, string>> = {
  'incident.overdue': 'Clocks of incidents that ended',
  'incident.due-soon': 'Clocks of incidents that end soon',
  'gap.found': 'Records that are missing, damaged or do not follow the one before',
  'misbehaviour.found': 'Members that sealed two batches of one number',
  'review.due': 'To be looked at again',
  'lock.expiring': 'Retention locks that end soon',
  'key.expiring': 'API keys that end soon',
  'anchor.delayed': 'Batches that are not anchored yet',
  'list.updated': 'Editions of lists in force',
  'record.confirmed': 'Records that were confirmed',
};

const LINES: Readonly<Record<Exclude<AlertEvent, 'record.confirmed'>, (data: JsonObject) => string>> = {
  'incident.overdue': ({ incidentId, ref, dueAt }) => `${text(incidentId)}: ${text(ref)} ended at ${text(dueAt)}`,
  'incident.due-soon': ({ incidentId, ref, dueAt }) => `${text(incidentId)}: ${text(ref)} ends at ${text(dueAt)}`,
  'gap.found': ({ sourceId, reason, from, to }) =>
    `source ${JSON.stringify(sourceId)}: ${text(reason)}, places ${text(from)} to ${text(to)}`,
  'misbehaviour.found': ({ node, batch }) => `node ${text(node)}, batch ${text(batch)}`,
  'review.due': ({ attestationId, kind, reviewDueAt }) =>
    `${text(attestationId)} (${text(kind)}) on ${text(reviewDueAt)}`,
  'lock.expiring': ({ attestationId, expiresAt }) => `${text(attestationId)} at ${text(expiresAt)}`,
  'key.expiring': ({ keyId, expiresAt }) => `${text(keyId)} at ${text(expiresAt)}`,
  'anchor.delayed': ({ batch, attestationIds }) =>
    `batch ${text(batch)} with ${isJsonArray(attestationIds ?? null) ? Object(attestationIds).length : 'some'} of your records`,
  'list.updated': ({ listId, attestationId }) => `${text(listId)}, attested by ${text(attestationId)}`,
};

/** One notice in a mail: ids, states and times. No control character is in it. */
export function noticeLine(event: Exclude<AlertEvent, 'record.confirmed'>, data: JsonObject): string {
  return LINES[event](data).replaceAll(/[\p{Cc}\u2028\u2029]/gu, '\uFFFD');
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
