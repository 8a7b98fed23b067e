import type { LinkedRecord } from '../evidence/linked-record.ts';
import type { Sha256Hash } from '../hash.ts';
import type { AttestationRecord } from '../chain/record.ts';
import type { Suite } from '../suite/suite.ts';
import type { Proof } from './bundle.ts';
import { checkBinding } from './check-binding.ts';
import { checkPin } from './check-pin.ts';
import { checkSignatures } from './check-signatures.ts';
import { checkWalk } from './check-walk.ts';
import { type Federation, openProof } from './opened-proof.ts';
import type { Finding, LinkedVerdict } from './verdict.ts';

/** A linked record after its checks. `record` is null where its text cannot be read. */
export interface JudgedLinked {
  readonly record: AttestationRecord | null;
  readonly verdict: LinkedVerdict;
}

const NO_ROSTERS: Finding = {
  check: 'sigValid',
  code: 'roster-invalid',
  detail: 'there are no rosters to judge it by',
};

/**
 * The checks on a linked record, the same as on a bundle's own: leaf, proofs, binding, signatures; its payload is never
 * there. It need not be on the ledger yet: its node's signature makes it evidence.
 */
export function judgeLinked(suite: Suite, proof: Proof, federation: Federation, pin?: Sha256Hash): JudgedLinked {
  const opened = openProof(suite, proof, federation);
  const problems = [
    ...(federation.rosters === null ? [NO_ROSTERS] : []),
    ...opened.findings,
    ...checkWalk(suite, opened),
    ...checkBinding(suite, opened),
    ...checkSignatures(suite, opened),
    ...checkPin(federation, pin),
  ];
  const { record } = opened;
  const verdict = { id: record?.id ?? null, kind: record?.kind ?? null, holds: problems.length === 0, problems };
  return { record, verdict };
}

/** The linked records that can be read, as the evidence rules take them. */
export function linkedRecords(judged: readonly JudgedLinked[]): readonly LinkedRecord[] {
  return judged.flatMap(({ record, verdict: { holds } }) => (record === null ? [] : [{ record, holds }]));
}
