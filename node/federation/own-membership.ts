import type { NodeId } from '../../protocol/ids.ts';
import { encodeBase64url } from '../../protocol/bytes.ts';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import { type Timestamp, timestampOf } from '../../protocol/time.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { Operation } from '../store/operation.ts';
import { certifySigningKey, type NodeKeys } from '../keys/node-keys.ts';
import type { FederationKeys } from './federation-keys.ts';

export class MembershipError extends Error {
  override readonly name = 'MembershipError';
}

/** Throws `MembershipError` unless the roster names this node with the very identity key that its home holds. */
export function requireMembership(self: NodeId, keys: FederationKeys, identity: Signer): void {
  const member = keys.rosters.current.members.find(({ node }) => node === self);
  if (member === undefined) throw new MembershipError(`the roster does not name ${self}`);
  if (member.identityKey !== encodeBase64url(identity.publicKey)) {
    throw new MembershipError(`the identity key of ${self} is not the one in the roster`);
  }
}

/**
 * Certifies the signing key at its first start, and returns the certificate where it is new. It is on the disk before
 * anything is signed with the key, and with it the row that has it anchored.
 */
export async function certifyOwnKey(
  self: NodeId,
  keys: FederationKeys,
  own: Pick<NodeKeys, 'identity' | 'signer'>,
  seqFrom: number,
  epochMilliseconds: number,
  anchorEntry: (statement: Sha256Hash, at: Timestamp) => Operation,
): Promise<SignedStatement | undefined> {
  if (keys.directory.get(self, own.signer.keyId) !== undefined) return undefined;
  const at = timestampOf(epochMilliseconds);
  const certificate = await certifySigningKey(self, own, at, seqFrom);
  await keys.learnCertificate(certificate, [anchorEntry(hashText(nativeSuite, certificate.statement), at)]);
  return certificate;
}
