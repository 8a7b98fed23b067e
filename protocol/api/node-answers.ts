import Type from 'typebox';
import {
  Closed,
  CountShape,
  EntityIdShape,
  NodeIdShape,
  OrdinalShape,
  OrNull,
  Sha256Shape,
  TimestampShape,
} from '../shapes.ts';
import {
  LOG_HEALTH_EXAMPLE,
  LOG_STATE_EXAMPLE,
  LogHealthShape,
  LogStateShape,
  TOPIC_STATE_EXAMPLE,
  TopicStateShape,
} from './log-state.ts';
import { StartWaitShape } from './start-waits.ts';
import { PEER_FAULTS } from './peer-faults.ts';
import { EXAMPLE_HASH, EXAMPLE_SUBMITTED_AT, EXAMPLE_TOPIC } from './example-ids.ts';

/** `GET /v1/health`. */
export const HealthAnswerShape = Closed({
  status: Type.Enum(['ok', 'unavailable']),
  ts: TimestampShape,
  region: Type.String(),
  node: NodeIdShape,
  version: Type.String(),
  checks: Closed({
    storage: Type.Enum(['ok', 'failing', 'warn', 'full']),
    signer: Type.Enum([
      'ok',
      'clock-off',
      'closed',
      'contradicted',
      'failing',
      'halted',
      'recovering',
      'refused',
      'removed',
    ]),
    ledger: Type.Enum(['ok', 'delayed', 'unreachable']),
    queueDepth: CountShape,
  }),
  /** What a node whose signer is `recovering` waits for. */
  waits: Type.Array(StartWaitShape),
  /** Of a node that was removed: whether all that it recorded is decided and vouched for, so that it may be stopped. */
  removed: OrNull(Closed({ released: Type.Boolean() })),
  log: LogHealthShape,
});

export const HEALTH_EXAMPLE = {
  status: 'ok',
  ts: EXAMPLE_SUBMITTED_AT,
  region: 'EU/Frankfurt',
  node: 'eu',
  version: '0.1.0',
  checks: { storage: 'ok', signer: 'ok', ledger: 'ok', queueDepth: 0 },
  waits: [],
  removed: null,
  log: LOG_HEALTH_EXAMPLE,
};

const MemberShape = Closed({
  node: NodeIdShape,
  region: Type.String(),
  baseUrl: Type.String(),
  connected: Type.Boolean(),
  since: Type.Union([TimestampShape, Type.Null()]),
  rttMilliseconds: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
  head: Closed({ batch: CountShape, envelope: Type.Union([Sha256Shape, Type.Null()]), records: CountShape }),
  trusted: Type.Boolean(),
});

/** `GET /v1/federation`. */
export const FederationAnswerShape = Closed({
  node: NodeIdShape,
  federation: Type.String(),
  fingerprint: Sha256Shape,
  name: Type.String(),
  roster: Closed({ version: OrdinalShape, hash: Sha256Shape, quorum: CountShape }),
  /** At this version the log came to another roster than this node was given at its start; null where it did not. */
  rosterContradiction: OrNull(Closed({ version: OrdinalShape, given: Sha256Shape, inForce: Sha256Shape })),
  ledger: Closed({ network: Type.String(), topicId: EntityIdShape }),
  topic: TopicStateShape,
  log: LogStateShape,
  members: Type.Array(MemberShape),
  catchingUp: Type.Array(NodeIdShape),
  /** Proofs that a node signed two envelopes for one batch; `stands`: none of the two fell with a revoked key. */
  equivocations: Type.Array(Closed({ node: NodeIdShape, batch: OrdinalShape, stands: Type.Boolean() })),
  /** What this node caught its peers at since it started: its own observation, no proof. */
  faults: Type.Array(
    Closed({ peer: NodeIdShape, fault: Type.Enum(PEER_FAULTS), count: OrdinalShape, last: TimestampShape }),
  ),
});

export const FEDERATION_EXAMPLE = {
  node: 'eu',
  federation: '9f86d081',
  fingerprint: EXAMPLE_HASH,
  name: 'meridian',
  roster: { version: 1, hash: EXAMPLE_HASH, quorum: 3 },
  rosterContradiction: null,
  ledger: { network: 'mainnet', topicId: EXAMPLE_TOPIC },
  topic: TOPIC_STATE_EXAMPLE,
  log: LOG_STATE_EXAMPLE,
  members: [
    {
      node: 'us',
      region: 'US/Virginia',
      baseUrl: 'https://us.example',
      connected: true,
      since: EXAMPLE_SUBMITTED_AT,
      rttMilliseconds: 88,
      head: { batch: 1204, envelope: EXAMPLE_HASH, records: 903_112 },
      trusted: true,
    },
  ],
  catchingUp: [],
  equivocations: [],
  faults: [],
};

/** `GET /problems/:code`. */
export const ProblemPageShape = Closed({
  code: Type.String(),
  status: Type.Integer(),
  title: Type.String(),
  meaning: Type.String(),
});
