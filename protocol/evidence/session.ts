import type { RecordId } from '../ids.ts';
import type { AttestationRecord } from '../chain/record.ts';

/** The session that a record was made in, by the id of its start. The start itself lies in its own session. */
export function sessionOf({ kind, id, links }: AttestationRecord): RecordId | undefined {
  return kind === 'session_start' ? id : links.session;
}

/** Whether a record is the start of the subject's session, of the same account and source. */
export function isStartFor(subject: AttestationRecord, record: AttestationRecord): boolean {
  return record.kind === 'session_start' && record.id === sessionOf(subject) && isOfSameSource(subject, record);
}

/** Whether a record is an end of the subject's session, of the same account and source. */
export function isEndFor(subject: AttestationRecord, record: AttestationRecord): boolean {
  const session = sessionOf(subject);
  return (
    record.kind === 'session_end' &&
    session !== undefined &&
    record.links.session === session &&
    isOfSameSource(subject, record)
  );
}

function isOfSameSource(a: AttestationRecord, b: AttestationRecord): boolean {
  return a.account === b.account && a.sourceId === b.sourceId;
}
