import Type, { type TProperties } from 'typebox';
import { Closed, CountShape, OrNull, TimestampShape } from '../shapes.ts';
import { RECORD_KINDS } from '../statement/vocabulary.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { PaidShape, paidTailExample } from './paid-answer.ts';
import { EXAMPLE_SALT, SaltShape } from './paid-tiered-attest.ts';

/** What is counted, in the words of every such answer. */
export const AGENT_RECORD_SCOPE =
  'Records that this node made. Counted are those of the agent registered here under this id: its registration, its key ' +
  'events, and decisions that bear its own signature. incidents and overrides: records of the same account about such ' +
  'decisions. What others recorded under this id without its signature, paid for or not, is counted under asserted ' +
  'alone: anyone can name an agent. Records on other nodes are not included.';

const SPAN = { firstSeen: OrNull(TimestampShape), lastSeen: OrNull(TimestampShape) };
const KIND_COUNTS: TProperties = Object.fromEntries(RECORD_KINDS.map((kind) => [kind, Type.Optional(CountShape)]));

/** What `GET /v1/x402/agent-record/:agentId` answers. */
export const AgentRecordAnswerShape = PaidShape({
  agentId: Type.String(),
  /** Whether an agent is registered here under this id. The next four members are null where none is. */
  registered: Type.Boolean(),
  did: OrNull(Type.String()),
  /** As registered; null also once the payload of the registration is erased. */
  displayName: OrNull(Type.String()),
  jurisdiction: OrNull(Type.String()),
  keyStatus: OrNull(Type.Enum(['active', 'deactivated'])),
  summary: Closed({
    ...SPAN,
    attestationCount: CountShape,
    /** UTC days, today included. */
    last30Days: CountShape,
    /** Kinds without a record are left out. */
    byRecordKind: Closed(KIND_COUNTS),
    /** `pending`: signed and not yet on the ledger, also where the record itself says `buffered`. */
    byStatus: Closed({ pending: CountShape, anchored: CountShape, confirmed: CountShape }),
    incidents: CountShape,
    overrides: CountShape,
    /** Sealed batches that hold records of the agent, the newest 256 at most. */
    batches: CountShape,
    batchesTruncated: Type.Boolean(),
    asserted: Closed({ count: CountShape, ...SPAN }),
  }),
  asOf: TimestampShape,
  scope: Type.Literal(AGENT_RECORD_SCOPE),
  salt: SaltShape,
});

export const AGENT_RECORD_EXAMPLE = {
  success: true,
  agentId: EXAMPLE_IDS.agent,
  registered: true,
  did: `did:web:eu.example:agents:${EXAMPLE_IDS.agent}`,
  displayName: 'Claims triage',
  jurisdiction: 'EU',
  keyStatus: 'active',
  summary: {
    firstSeen: '2026-08-03T08:00:00.000Z',
    lastSeen: '2026-11-21T09:29:12.004Z',
    attestationCount: 1043,
    last30Days: 211,
    byRecordKind: { agent_registration: 1, decision: 1041, key_event: 1 },
    byStatus: { pending: 2, anchored: 5, confirmed: 1036 },
    incidents: 1,
    overrides: 14,
    batches: 256,
    batchesTruncated: true,
    asserted: { count: 3, firstSeen: '2026-10-01T12:00:00.000Z', lastSeen: '2026-11-02T14:05:11.020Z' },
  },
  asOf: EXAMPLE_SUBMITTED_AT,
  scope: AGENT_RECORD_SCOPE,
  salt: EXAMPLE_SALT,
  ...paidTailExample('0.005'),
};
