import { encodeBase64url } from '../../protocol/bytes.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
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
