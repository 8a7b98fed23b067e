import type { AttestationRecord } from '../chain/record.ts';
import type { ReviewOutcome } from '../statement/vocabulary.ts';

/** Outcomes by which a person verified a result, whichever way it went: EU AI Act Art. 14(5). */
const VERIFYING: ReadonlySet<ReviewOutcome> = new Set<ReviewOutcome>(['confirmed', 'overridden', 'reversed']);

/** Whether a record is a human override of some record, by a person. */
export function isHumanOverride({ kind, links, claims }: AttestationRecord): boolean {
  return kind === 'human_override' && links.original !== undefined && claims.reviewer !== undefined;
}

/** Whether a record is a human override of this very subject, by a person, in the subject's account. */
export function isOverrideOf(subject: AttestationRecord, record: AttestationRecord): boolean {
  return isHumanOverride(record) && record.links.original === subject.id && record.account === subject.account;
}

export function isVerifying({ claims }: AttestationRecord): boolean {
  return claims.reviewOutcome !== undefined && VERIFYING.has(claims.reviewOutcome);
}

/**
 * The first two overrides by which two persons verified the result; none where it is not certain that they are two.
 * Every node makes pseudonyms under a secret of its own, so only those of one node tell persons apart.
 */
export function twoReviewers(overrides: readonly AttestationRecord[]): readonly AttestationRecord[] {
  const verifying = overrides.filter((override) => isHumanOverride(override) && isVerifying(override));
  const first = new Map<string, AttestationRecord>();
  for (const override of verifying) {
    const known = first.get(override.node);
    if (known === undefined) first.set(override.node, override);
    else if (known.claims.reviewer !== override.claims.reviewer) return [known, override];
  }
  return [];
}
