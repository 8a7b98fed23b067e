import type { AttestationRecord } from '../chain/record.ts';

/** A record that the subject names or that names it, and whether its own proof holds. One that does not counts for nothing. */
export interface LinkedRecord {
  readonly record: AttestationRecord;
  readonly holds: boolean;
}

/** The records whose own proof holds and that are of the same account as the subject: no other says anything about it. */
export function speakingFor(subject: AttestationRecord, linked: readonly LinkedRecord[]): readonly AttestationRecord[] {
  return linked.flatMap(({ record, holds }) => (holds && record.account === subject.account ? [record] : []));
}
