import Type, { type Static } from 'typebox';
import { NODE_ID_PATTERN, type NodeId, ENTITY_ID_PATTERN, type EntityId } from '../ids.ts';
import { SHA256_PATTERN, type Sha256Hash } from '../hash.ts';
import {
  Closed,
  ConsensusTimestampShape,
  CountShape,
  EntityIdShape,
  NodeIdShape,
  OrdinalShape,
  OrNull,
  Sha256Shape,
  Sha384Shape,
} from '../shapes.ts';
import { canonicalText } from '../statement/statement.ts';

/** Undecided names of a type that are kept of one member, the newest: what else it names, it names again later. */
export const MAX_OPEN_NAMES = 64;
/**
 * Keys of one node that can be revoked, thirty-nine years of a new one every week, and revocations of one key. A
 * further one decides nothing, so that a node which signs ever more of them costs the others no more than this.
 */
export const MAX_REVOKED_KEYS = 2048;
export const MAX_REVOCATIONS_OF_KEY = 8;

/**
 * Identity keys of one node in all its rosters. What it certified or revoked is judged by any of them, so that one
 * statement costs anyone who checks it no more signatures than this.
 */
export const MAX_IDENTITY_KEYS = 8;

/** A batch that others than its node named: of each member one name a node, for only the next number counts. */
const OpenBatchShape = Closed({
  node: NodeIdShape,
  batch: OrdinalShape,
  envelope: Sha256Shape,
  keyId: Sha256Shape,
});
const OpenRevocationShape = Closed({ node: NodeIdShape, keyId: Sha256Shape, statement: Sha256Shape });

const OpenNamesShape = Closed({
  /** The roster that the member named last to follow the one in force. */
  roster: OrNull(Sha256Shape),
  /** Oldest first, as are the revocations. */
  batches: Type.Array(OpenBatchShape, { maxItems: MAX_OPEN_NAMES }),
  revocations: Type.Array(OpenRevocationShape, { maxItems: MAX_OPEN_NAMES }),
});

const NodeStateShape = Closed({
  /** Its accounts in the last roster that names it. */
  accounts: Type.Array(EntityIdShape),
  /** Hashes of the identity keys that rosters have named for it, that of the last roster last. */
  identityKeys: Type.Array(Sha256Shape, { minItems: 1, maxItems: MAX_IDENTITY_KEYS }),
  /** Its last batch that was decided, and the decision's place in the log; null before the first. */
  last: OrNull(Closed({ batch: OrdinalShape, envelope: Sha256Shape, index: CountShape })),
});

const RevokedShape = Closed({
  statement: Sha256Shape,
  /** Place of its decision in the log. */
  index: CountShape,
  consensusTimestamp: ConsensusTimestampShape,
});

/**
 * All that `decide` has to know of the messages before: a value that is never changed, of which a new one shares what
 * stayed the same. Whoever read the same messages has the same one, and the same canonical text of it.
 *
 * It grows with what majorities decided (rosters, revocations, accounts ever named), and with nothing else: the open
 * names of a member are under 26,000 characters, and a stranger leaves no trace but the read position.
 */
const DecisionStateShape = Closed({
  v: Type.Literal(1),
  type: Type.Literal('decision-state'),
  /** Hash of the genesis roster. */
  federation: Sha256Shape,
  ledger: Closed({ network: Type.String({ minLength: 1, maxLength: 64 }), topicId: EntityIdShape }),
  /** From the genesis to the one in force, version by version, each with the place of its decision; null at genesis. */
  rosters: Type.Array(Closed({ hash: Sha256Shape, index: OrNull(CountShape) }), { minItems: 1 }),
  /** Members of the roster in force that put something into force. */
  majority: OrdinalShape,
  /** Members of the roster in force. */
  members: recordOf(NODE_ID_PATTERN, NodeStateShape),
  /** Nodes that earlier rosters named and the one in force does not. */
  past: recordOf(NODE_ID_PATTERN, NodeStateShape),
  /** Every account that any roster named, and its member: it never passes to another. */
  accounts: recordOf(ENTITY_ID_PATTERN, NodeIdShape),
  /** Member → what it named that is not decided. A member that has nothing open is absent. */
  open: recordOf(NODE_ID_PATTERN, OpenNamesShape),
  /** Node → its revoked key → the revocations of it that are in force, in order of the log. */
  revoked: recordOf(NODE_ID_PATTERN, recordOf(SHA256_PATTERN, Type.Array(RevokedShape))),
  /** Decisions in the log. */
  size: CountShape,
  /** The last message that was read, 0 before the first, and the topic's running hash after it. */
  sequence: CountShape,
  runningHash: Sha384Shape,
});

export type DecisionState = Readonly<Static<typeof DecisionStateShape>>;
export type NodeState = Readonly<Static<typeof NodeStateShape>>;
export type OpenNames = Readonly<Static<typeof OpenNamesShape>>;
export type OpenBatch = Readonly<Static<typeof OpenBatchShape>>;
export type OpenRevocation = Readonly<Static<typeof OpenRevocationShape>>;

/** Reader and writer of a state's canonical text. Reading throws `StatementError`. */
export const decisionStateText = canonicalText('decision state', DecisionStateShape);

/** Hash of the roster in force. */
export function rosterInForce({ federation, rosters }: DecisionState): Sha256Hash {
  return rosters.at(-1)?.hash ?? federation;
}

/** What is known of a node that any roster named up to here. */
export function knownNode({ members, past }: DecisionState, node: NodeId): NodeState | undefined {
  return members[node] ?? past[node];
}

/** The member of the roster in force whose account this is there. */
export function memberOfAccount({ accounts, members }: DecisionState, account: EntityId): NodeId | undefined {
  const node = accounts[account];
  if (node === undefined) return undefined;
  return members[node]?.accounts.includes(account) === true ? node : undefined;
}

/** The one batch number of a node that a name can decide. */
export function nextBatch({ last }: NodeState): number {
  return (last?.batch ?? 0) + 1;
}

/** Whether a revocation of this key of that node is in force. */
export function isRevoked({ revoked }: DecisionState, node: NodeId, keyId: Sha256Hash): boolean {
  return revoked[node]?.[keyId] !== undefined;
}

function recordOf<Shape extends Type.TSchema>(pattern: string, shape: Shape) {
  return Type.Record(Type.String({ pattern }), shape, { additionalProperties: false });
}
