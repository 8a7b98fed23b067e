import type { Sha256Hash } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { groupStatement } from '../../../protocol/statement/group.ts';
import type { ConsensusTimestamp } from '../../../protocol/time.ts';
import type { ProblemCode } from '../../../protocol/verdict/problem.ts';
import type { FederationKeys } from '../../log/members/federation-keys.ts';
import type { Evidence } from '../../verification/evidence.ts';
import type { VerifiedRecord } from '../../verification/verifier.ts';
import { failed, type Outcome, passed, skipped } from './outcome.ts';

/** A key that signed something of the record, and what. */
interface Use {
  readonly what: string;
  readonly node: NodeId;
  readonly keyId: Sha256Hash;
}

type KeyHistory = Pick<FederationKeys, 'directory'>;

/** Raw public keys of ML-DSA-65 have this length (FIPS 204). In bytes. */
const ML_DSA_65_KEY_BYTES = 1952;
/** What a verdict says of keys that do not hold. */
const KEY_PROBLEMS: readonly ProblemCode[] = [
  'key-compromised',
  'key-unknown',
  'signature-invalid',
  'signature-missing',
];

/**
 * M4: the verdict finds nothing against the keys that signed the record's receipt and its batch: an identity key of their
 * node certified them, and they were not compromised before the ledger gave the batch its time.
 */
export function checkSigningKeys(
  keys: KeyHistory,
  { verdict, evidence }: VerifiedRecord,
  consensus: ConsensusTimestamp | null,
): Outcome {
  const faults = verdict.problems.filter(({ code }) => KEY_PROBLEMS.includes(code));
  if (faults.length > 0) return failed(faults.map(({ detail }) => detail).join('; '));
  if (consensus === null) return skipped('it is not settled when the ledger gave the batch its time');
  const uses = usesOf(evidence);
  const unknown = uses.find(({ node, keyId }) => keys.directory.get(node, keyId) === undefined);
  if (unknown !== undefined) {
    return failed(`${unknown.what}: key ${unknown.keyId} was not published by ${unknown.node}`);
  }
  const ids = [...new Set(uses.map(({ keyId }) => keyId))];
  const isRevoked = uses.some(({ node, keyId }) => keys.directory.revocation(node, keyId) !== undefined);
  return passed(
    `published, valid and standing at ${consensus}: ${ids.join(', ')}${isRevoked ? '; revoked later' : ''}`,
  );
}

/** O5: by the length of the raw keys, which the certificates bind to the key ids. */
export function checkAlgorithm(keys: KeyHistory, evidence: Evidence): Outcome {
  const found = usesOf(evidence).map(({ node, keyId }) => keys.directory.get(node, keyId)?.publicKey.length);
  return found.every((length) => length === ML_DSA_65_KEY_BYTES)
    ? passed('ML-DSA-65 (FIPS 204), SHA-256: accepted')
    : failed('a key is not one of ML-DSA-65');
}

function usesOf({ batch, proof }: Evidence): readonly Use[] {
  const receipt: Use = { what: 'the receipt', ...groupStatement.parse(proof.receipt.statement) };
  return batch === undefined ? [receipt] : [receipt, { what: 'the envelope', ...batch.envelope }];
}
