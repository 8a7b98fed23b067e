import Type, { type Static } from 'typebox';
import { hashBytes, hashText, type Sha256Hash } from '../hash.ts';
import { encodeHex } from '../bytes.ts';
import {
  Base64urlShape,
  Closed,
  EntityIdShape,
  NodeIdShape,
  OrdinalShape,
  Sha256Shape,
  TimestampShape,
} from '../shapes.ts';
import { statementKind } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';

const FEDERATION_BYTES = 4;

export const MemberShape = Closed({
  node: NodeIdShape,
  region: Type.String({ minLength: 1, maxLength: 64 }),
  baseUrl: Type.String({ minLength: 1, maxLength: 256 }),
  peerId: Type.String({ minLength: 1, maxLength: 128 }),
  multiaddrs: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 16 }),
  /** ML-DSA-65 public key, used only to certify and revoke signing keys and to sign rosters. */
  identityKey: Base64urlShape,
});
export type Member = Static<typeof MemberShape>;

/** Who belongs to the federation, how many witnesses make a quorum, and on which ledger topic it anchors. */
const RosterShape = Closed({
  v: Type.Literal(1),
  type: Type.Literal('roster'),
  name: Type.String({ minLength: 1, maxLength: 64 }),
  version: OrdinalShape,
  /** Hash of the roster statement before; null at genesis. */
  previous: Type.Union([Sha256Shape, Type.Null()]),
  /** Witnesses besides the origin that make a batch `witnessed`; also the members that may sign the next roster. */
  quorum: OrdinalShape,
  members: Type.Array(MemberShape, { minItems: 1, maxItems: 256 }),
  ledger: Closed({ network: Type.String({ minLength: 1, maxLength: 64 }), topicId: EntityIdShape }),
  issuedAt: TimestampShape,
});
export type Roster = Static<typeof RosterShape>;

export const rosterStatement = statementKind('roster', 'meridian/roster/1', RosterShape);

/** A roster as it travels: its statement and one signature a signing member, by that member's identity key. */
export const SignedRosterShape = Closed({
  statement: Type.String(),
  signatures: Type.Array(Closed({ node: NodeIdShape, signature: Base64urlShape }), { maxItems: 256 }),
});
export type SignedRoster = Static<typeof SignedRosterShape>;

/** The federation's short name in topics and anchor messages: first 4 bytes of the genesis roster's hash, as hex. */
export function federationDigest(genesis: Sha256Hash): string {
  return encodeHex(hashBytes(genesis).subarray(0, FEDERATION_BYTES));
}

/** Hash of a roster's statement. Of the genesis roster, it is the federation's fingerprint. */
export function rosterHash(suite: Pick<Suite, 'sha256Hex'>, roster: Pick<SignedRoster, 'statement'>): Sha256Hash {
  return hashText(suite, roster.statement);
}
