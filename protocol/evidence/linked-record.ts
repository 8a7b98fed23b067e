import type { AttestationRecord } from '../chain/record.ts';

/**
 * A record that the subject names or that names it, whether its own proof holds, and whether its node speaks for its
 * account. One that does not hold, or whose node does not speak, counts for nothing.
 */
export interface LinkedRecord {
  readonly record: AttestationRecord;
  readonly holds: boolean;
  readonly speaks: boolean;
}

/** The records that say something about the subject: they hold, are of its account, and their nodes speak for it. */
export function speakingFor(subject: AttestationRecord, linked: readonly LinkedRecord[]): readonly AttestationRecord[] {
  return linked.flatMap((one) => (speaksFor(subject, one) ? [one.record] : []));
}

/** Whether a linked record says something about the subject. */
export function speaksFor(subject: AttestationRecord, { record, holds, speaks }: LinkedRecord): boolean {
  return holds && speaks && record.account === subject.account;
}
