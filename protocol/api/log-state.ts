import Type, { type Static } from 'typebox';
import {
  Closed,
  CountShape,
  NodeIdShape,
  OrdinalShape,
  OrNull,
  Sha256Shape,
  Sha384Shape,
  TimestampShape,
} from '../shapes.ts';
import { EXAMPLE_HASH, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';

/**
 * What the log waits for. `roster`: the ledger put one in force whose text nobody has brought. `messages`: what is
 * final is being processed. `members`: two sources agree, and no majority of members does yet. `second-source`: one
 * mirror alone says it. `sources-differ`: two say otherwise than two others.
 */
const WaitingForShape = Type.Enum(['nothing', 'roster', 'messages', 'members', 'second-source', 'sources-differ']);

/** Whose word on the ledger's topic cannot be true: a mirror's host, `consensus nodes`, or a member. */
const ContradictionShape = Closed({
  who: Type.String(),
  /** What it contradicts: what is final, what two other sources agree on, or its own earlier word. */
  kind: Type.Enum(['final', 'agreed', 'itself']),
  /** The lowest message known at which it does. */
  sequence: CountShape,
});

/** `log` of `GET /v1/health`. */
export const LogHealthShape = Closed(
  {
    /** Decisions in the federation's log as this node has it, and the root of their tree. */
    size: CountShape,
    root: Sha256Shape,
    waitingFor: WaitingForShape,
    contradictions: Type.Array(ContradictionShape),
    /** Members whose checkpoint this node's own tree contradicts; none while most contradict that tree. */
    falseCheckpoints: Type.Array(NodeIdShape),
    /** Most members, where they say otherwise than this node's own tree: it was fooled, and signs nothing more. */
    contradictedBy: Type.Array(NodeIdShape),
  },
  { title: 'LogHealth' },
);
export type LogHealth = Static<typeof LogHealthShape>;

const PointShape = Closed({ sequence: CountShape, runningHash: Sha384Shape });
const AnsweredShape = OrNull(TimestampShape);

/** `topic` of `GET /v1/federation`: how the reading of the ledger's topic stands. */
export const TopicStateShape = Closed({
  /** The last message that this node has made a decision of, or passed over. */
  processed: CountShape,
  /** What is final here: two sources of this node agree on it, and a majority of members tells it. */
  final: PointShape,
  /** What two sources of this node agree on. */
  agreed: PointShape,
  waitingFor: WaitingForShape,
  waitingSince: OrNull(TimestampShape),
  mirrors: Type.Array(
    Closed({ host: Type.String(), position: CountShape, lastAnswer: AnsweredShape, answers: Type.Boolean() }),
  ),
  /** Null where consensus nodes are not asked. */
  consensus: OrNull(Closed({ lastAnswer: AnsweredShape, answers: Type.Boolean() })),
  /** What each other member told last; null for nothing since the start. */
  told: Type.Record(Type.String(), OrNull(CountShape)),
  contradictions: Type.Array(ContradictionShape),
});
export type TopicState = Static<typeof TopicStateShape>;

/** `log` of `GET /v1/federation`. */
export const LogStateShape = Closed({
  size: CountShape,
  root: Sha256Shape,
  /** The roster that the ledger put in force and whose text is not here: the log waits for it. */
  needsRoster: OrNull(Sha256Shape),
  /** Of each node, the last batch up to which this member has derived every one: what its checkpoints vouch for. */
  vouched: Type.Record(Type.String(), OrdinalShape),
  /** Decided batches that are held and not derived, each at the end of its chain; `code` says why. */
  underived: Type.Array(Closed({ node: NodeIdShape, batch: OrdinalShape, code: Type.String() })),
  /**
   * Decided batches that are not held here, each the next of its chain: `since` is the ledger time of the decision,
   * `without` says who was asked since this node's start and does not hold it, `unasked` who was not. Where nobody
   * holds it but in a backup, the chain waits; that it is lost for good nobody can know.
   */
  lacking: Type.Array(
    Closed({
      node: NodeIdShape,
      batch: OrdinalShape,
      since: TimestampShape,
      without: Type.Array(NodeIdShape),
      unasked: Type.Array(NodeIdShape),
    }),
  ),
  /** Nodes whose chain cannot go on: the ledger decided a batch that nobody can derive. */
  closed: Type.Array(NodeIdShape),
  /**
   * Newest checkpoint of each member that this node's own tree agrees with; `behind`: decisions that it does not cover.
   */
  checkpoints: Type.Array(Closed({ node: NodeIdShape, keyId: Sha256Shape, size: OrdinalShape, behind: CountShape })),
  /**
   * Checkpoints that this node's own tree contradicts: evidence against their members. None while most contradict it.
   */
  falseCheckpoints: Type.Array(
    Closed({ node: NodeIdShape, keyId: Sha256Shape, size: OrdinalShape, root: Sha256Shape }),
  ),
});
export type LogState = Static<typeof LogStateShape>;

export const LOG_HEALTH_EXAMPLE = {
  size: 1204,
  root: EXAMPLE_HASH,
  waitingFor: 'nothing',
  contradictions: [],
  falseCheckpoints: [],
  contradictedBy: [],
};

const EXAMPLE_POINT = { sequence: 1231, runningHash: `sha384:${'2c26b46b68ff'.repeat(8)}` };

export const TOPIC_STATE_EXAMPLE = {
  processed: 1231,
  final: EXAMPLE_POINT,
  agreed: EXAMPLE_POINT,
  waitingFor: 'nothing',
  waitingSince: null,
  mirrors: [
    { host: 'mirror.example', position: 1231, lastAnswer: EXAMPLE_SUBMITTED_AT, answers: true },
    { host: 'mirror.example.org', position: 1230, lastAnswer: EXAMPLE_SUBMITTED_AT, answers: true },
  ],
  consensus: { lastAnswer: null, answers: true },
  told: { us: 1231, ca: 1231, sg: 1230, jp: 1231 },
  contradictions: [{ who: 'mirror.example.org', kind: 'final', sequence: 1188 }],
};

export const LOG_STATE_EXAMPLE = {
  size: 1204,
  root: EXAMPLE_HASH,
  needsRoster: null,
  vouched: { eu: 411, us: 395 },
  underived: [],
  lacking: [],
  closed: [],
  checkpoints: [{ node: 'us', keyId: EXAMPLE_HASH, size: 1203, behind: 1 }],
  falseCheckpoints: [],
};
