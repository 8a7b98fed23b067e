import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { keyCovers } from '../../protocol/keys/key-directory.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import type { ConsensusTimestamp, Timestamp } from '../../protocol/time.ts';
import type { FederationKeys } from '../federation/federation-keys.ts';
import type { Evidence } from '../verification/evidence.ts';
import { failed, type Outcome, passed, skipped } from './outcome.ts';

interface Use {
  readonly what: string;
  readonly node: NodeId;
  readonly keyId: Sha256Hash;
  readonly at: Timestamp;
  readonly first: number;
}

type KeyHistory = Pick<FederationKeys, 'directory'>;

/** Raw public keys of ML-DSA-65 have this length (FIPS 204). In bytes. */
const ML_DSA_65_KEY_BYTES = 1952;

/**
 * M4: the keys that signed the record's receipt and its batch were published by their node's certificate, valid when they
 * signed, and not compromised before the ledger gave the batch its time.
 */
export function checkSigningKeys(keys: KeyHistory, evidence: Evidence, consensus: ConsensusTimestamp | null): Outcome {
  const uses = usesOf(evidence);
  const faults = uses.flatMap((use) => faultOf(keys, use) ?? []);
  if (faults.length > 0) return failed(faults.join('; '));
  if (consensus === null) return skipped('it is not settled when the ledger gave the batch its time');
  const fallen = uses.find(({ node, keyId }) => !keys.directory.standsAt(node, keyId, consensus));
  if (fallen !== undefined) return failed(`${fallen.what}: key ${fallen.keyId} was compromised before ${consensus}`);
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

function usesOf({ batch, bundle }: Evidence): readonly Use[] {
  const { node, keyId, signedAt, first } = groupStatement.parse(bundle.receipt.statement);
  const receipt: Use = { what: 'the receipt', node, keyId, at: signedAt, first };
  if (batch === undefined) return [receipt];
  const { envelope } = batch;
  const { node: by, keyId: key, sealedAt, first: from } = envelope;
  return [receipt, { what: 'the envelope', node: by, keyId: key, at: sealedAt, first: from }];
}

function faultOf({ directory }: KeyHistory, { what, node, keyId, at, first }: Use): string | undefined {
  const key = directory.get(node, keyId);
  if (key === undefined) return `${what}: key ${keyId} was not published by ${node}`;
  return keyCovers(key, node, at, first) ? undefined : `${what}: key ${keyId} was not valid for it at ${at}`;
}
