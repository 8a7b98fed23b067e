import Type, { type Static } from 'typebox';
import {
  Closed,
  ConsensusTimestampShape,
  CountShape,
  EntityIdShape,
  OrNull,
  RecordIdShape,
  Sha256Shape,
  TimestampShape,
} from '../shapes.ts';
import { EXAMPLE_CONSENSUS, EXAMPLE_HASH, EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT, EXAMPLE_TOPIC } from './example-ids.ts';
import { STATUSES } from './verdict.ts';

/** `GET /v1/status/:id` (api-rules §3, §4.2): how far a record is on its way to the ledger. */
export const StatusAnswerShape = Closed({
  success: Type.Literal(true),
  attestationId: RecordIdShape,
  status: Type.Enum([...STATUSES]),
  /** 1: a leaf of a batch. */
  tier: CountShape,
  submittedAt: TimestampShape,
  anchoredAt: OrNull(TimestampShape),
  confirmedAt: OrNull(TimestampShape),
  anchorExpectedBy: TimestampShape,
  delayed: Type.Boolean(),
  batchId: OrNull(Type.String()),
  leafIndex: OrNull(CountShape),
  merkleRoot: OrNull(Sha256Shape),
  topic: EntityIdShape,
  transactionId: OrNull(Type.String()),
  hcsSequence: OrNull(Type.String()),
  consensusTimestamp: OrNull(ConsensusTimestampShape),
  /** Until when the tier of the record's account gives out its bundle; null: for ever, or to another account. */
  proofWindowEndsAt: OrNull(TimestampShape),
  history: Type.Array(Closed({ status: Type.Enum([...STATUSES]), at: TimestampShape })),
});
export type StatusAnswer = Static<typeof StatusAnswerShape>;

export const STATUS_EXAMPLE = {
  success: true,
  attestationId: EXAMPLE_IDS.decision,
  status: 'confirmed',
  tier: 1,
  submittedAt: EXAMPLE_SUBMITTED_AT,
  anchoredAt: '2026-11-21T09:30:09.107Z',
  confirmedAt: EXAMPLE_CONSENSUS.time,
  anchorExpectedBy: '2026-11-21T09:31:30.000Z',
  delayed: false,
  batchId: EXAMPLE_IDS.decision.replace('att', 'bat'),
  leafIndex: 17,
  merkleRoot: EXAMPLE_HASH,
  topic: EXAMPLE_TOPIC,
  transactionId: '0.0.4242@1795253407.511000000',
  hcsSequence: '8812',
  consensusTimestamp: EXAMPLE_CONSENSUS.timestamp,
  proofWindowEndsAt: '2026-11-28T09:30:00.000Z',
  history: [
    { status: 'pending', at: EXAMPLE_SUBMITTED_AT },
    { status: 'anchored', at: '2026-11-21T09:30:09.107Z' },
    { status: 'confirmed', at: EXAMPLE_CONSENSUS.time },
  ],
};
