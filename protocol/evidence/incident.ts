import type { AttestationRecord } from '../chain/record.ts';

/** Whether a record is an incident that names this very subject, in the subject's account. */
export function isIncidentAbout(subject: AttestationRecord, { kind, links, account }: AttestationRecord): boolean {
  return kind === 'incident' && account === subject.account && (links.related?.includes(subject.id) ?? false);
}
