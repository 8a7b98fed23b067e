import { encodeBase64url } from '../../protocol/bytes.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { RosterChain } from '../../protocol/keys/roster-chain.ts';
import { hasMember, type Member } from '../../protocol/log/roster.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';

export class MembershipError extends Error {
  override readonly name = 'MembershipError';
}

/**
 * Throws `MembershipError` unless a roster names this node, the newest that does with the very identity key that its
 * home holds. One that was removed since still has to bring what it recorded last, and to serve it.
 */
export function requireMembership(self: NodeId, keys: Pick<FederationKeys, 'rosters'>, identity: Signer): void {
  const member = keys.rosters.member(self);
  if (member === undefined) throw new MembershipError(`no roster names ${self}`);
  if (member.identityKey !== encodeBase64url(identity.publicKey)) {
    throw new MembershipError(`the identity key of ${self} is not the one in the roster`);
  }
}

/** Whom a node's transport begins with: the members, and itself where it was removed, for it dials the others still. */
export function firstMembers(rosters: RosterChain, self: NodeId): readonly Member[] {
  const { members } = rosters.current;
  const own = rosters.member(self);
  return hasMember({ members }, self) || own === undefined ? members : [...members, own];
}
