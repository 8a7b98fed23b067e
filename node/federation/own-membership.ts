import type { NodeId } from '../../protocol/ids.ts';
import { encodeBase64url } from '../../protocol/bytes.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import { timestampOf } from '../../protocol/time.ts';
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
 * anything is signed with the key.
 */
export async function certifyOwnKey(
  self: NodeId,
  keys: FederationKeys,
  own: Pick<NodeKeys, 'identity' | 'signer'>,
  seqFrom: number,
  epochMilliseconds: number,
): Promise<SignedStatement | undefined> {
  if (keys.directory.get(self, own.signer.keyId) !== undefined) return undefined;
  const certificate = await certifySigningKey(self, own, timestampOf(epochMilliseconds), seqFrom);
  await keys.learnCertificate(certificate);
  return certificate;
}
