import Type, { type Static } from 'typebox';
import { encodeHex } from '../bytes.ts';
import { hashBytes, type Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import {
  Base64urlShape,
  Closed,
  CountShape,
  EntityIdShape,
  NodeIdShape,
  OrdinalShape,
  Sha256Shape,
  TimestampShape,
} from '../shapes.ts';
import { statementKind } from '../statement/statement.ts';

/** Members of one roster at most. */
export const MAX_MEMBERS = 256;
const MAX_ACCOUNTS = 16;
const DIGEST_BYTES = 4;

export const MemberShape = Closed({
  node: NodeIdShape,
  region: Type.String({ minLength: 1, maxLength: 64 }),
  baseUrl: Type.String({ minLength: 1, maxLength: 256 }),
  peerId: Type.String({ minLength: 1, maxLength: 128 }),
  multiaddrs: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 16 }),
  /** Ledger accounts that pay for this member's messages: what is paid by them is its word. */
  accounts: Type.Array(EntityIdShape, { minItems: 1, maxItems: MAX_ACCOUNTS }),
  /** ML-DSA-65 public key, used only to certify and revoke signing keys and to sign rosters. */
  identityKey: Base64urlShape,
});
export type Member = Static<typeof MemberShape>;

/**
 * Where a federation goes on from one whose ledger topic was lost: that one's genesis, and the head of its closed log.
 */
const ContinuesShape = Closed({ genesis: Sha256Shape, root: Sha256Shape, size: OrdinalShape });

/**
 * Who belongs to the federation, how many members make a word true, and on which ledger topic it decides (protocol §2).
 */
const RosterShape = Closed({
  v: Type.Literal(2),
  type: Type.Literal('roster'),
  name: Type.String({ minLength: 1, maxLength: 64 }),
  version: OrdinalShape,
  /** Hash of the roster before; null at genesis. */
  previous: Type.Union([Sha256Shape, Type.Null()]),
  /** Members other than the origin that must say a thing before it is verified; 0 in a federation of one. */
  quorum: CountShape,
  members: Type.Array(MemberShape, { minItems: 1, maxItems: MAX_MEMBERS }),
  /** Never changes from one roster to the next. */
  ledger: Closed({ network: Type.String({ minLength: 1, maxLength: 64 }), topicId: EntityIdShape }),
  /** How far back a revocation may reach from its own consensus time, in seconds. */
  revocationReach: CountShape,
  issuedAt: TimestampShape,
  /** In a genesis roster only. */
  continues: Type.Optional(ContinuesShape),
});
export type Roster = Static<typeof RosterShape>;

export const rosterStatement = statementKind('roster', 'meridian/roster/1', RosterShape);

/** Thirty days, in seconds. */
export const DEFAULT_REVOCATION_REACH = 30 * 24 * 60 * 60;

/** The federation's short name on the wire: the first 4 bytes of the genesis roster's hash, as hex. */
export function federationDigest(genesis: Sha256Hash): string {
  return encodeHex(hashBytes(genesis).subarray(0, DIGEST_BYTES));
}

/** Whether a roster names this node. */
export function hasMember({ members }: Pick<Roster, 'members'>, node: NodeId): boolean {
  return members.some((member) => member.node === node);
}

/** Members that make a majority: more than half of all. */
export function majorityOf({ members }: Pick<Roster, 'members'>): number {
  return Math.floor(members.length / 2) + 1;
}

/**
 * Members other than the origin that must say a thing before it is verified. At least one: in a federation of one,
 * itself.
 */
export function neededWitnesses({ quorum }: Pick<Roster, 'quorum'>): number {
  return Math.max(1, quorum);
}
