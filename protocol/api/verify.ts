import Type, { type Static } from 'typebox';
import {
  Closed,
  ConsensusTimestampShape,
  CountShape,
  EntityIdShape,
  NodeIdShape,
  OrdinalShape,
  OrNull,
  RecordIdShape,
  Sha256Shape,
  TimestampShape,
} from '../shapes.ts';
import { RECORD_KINDS } from '../statement/vocabulary.ts';
import { EVIDENCE, EVIDENCE_EXAMPLE } from './evidence.ts';
import { EXAMPLE_CONSENSUS, EXAMPLE_HASH, EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT, EXAMPLE_TOPIC } from './example-ids.ts';
import {
  CHECKS_EXAMPLE,
  ChecksShape,
  PAYLOAD_STATES,
  ProblemsShape,
  STATUSES,
  VERDICT_EXAMPLE,
  VerdictShape,
} from './verdict.ts';

/** Linked records of nodes that do not speak for the account that an answer names. */
export const MAX_OTHERS = 16;

/** Whether a node still has what a record commits to, or its commitment alone. */
export const EVIDENCE_STATES = ['held', 'commitment-only'] as const;
export type EvidenceState = (typeof EVIDENCE_STATES)[number];
const EvidenceStateShape = OrNull(Type.Enum([...EVIDENCE_STATES]));

const OtherRecordShape = Closed({ id: RecordIdShape, kind: Type.Enum([...RECORD_KINDS]), node: NodeIdShape });

export const SECURITY_LEVEL = 'ML-DSA-65';
export const PROOF_SOURCE = 'merkle-forest';

/**
 * `GET /v1/verify/:id` (api-rules §2.3, §4.2): the field sets of direct and tiered records alike. What is null is not
 * known yet, or, for a record that cannot be read, not any more.
 */
export const VerifyAnswerShape = Closed({
  found: Type.Literal(true),
  verified: Type.Boolean(),
  sigValid: Type.Boolean(),
  attestationId: RecordIdShape,
  /** Sequence number of the deciding message on the ledger topic. */
  seqNum: OrNull(OrdinalShape),
  securityLevel: Type.Literal(SECURITY_LEVEL),
  /** Consensus time. */
  confirmedAt: OrNull(TimestampShape),
  ...EVIDENCE,
  source: Type.Literal(PROOF_SOURCE),
  status: OrNull(Type.Enum([...STATUSES])),
  hcsSequence: OrNull(Type.String()),
  cryptoVerification: Closed({ verified: Type.Boolean(), checks: ChecksShape }),
  /** Whether checkpoints of a quorum of members other than the origin vouch for the record's batch. */
  witnessed: Type.Boolean(),
  payloadState: OrNull(Type.Enum([...PAYLOAD_STATES])),
  /** Where the payload was erased: the record is verified without it. */
  verifiedScope: Type.Optional(Type.Literal('record-only')),
  /**
   * The word of the node, and no part of the evidence rules: whether what the record commits to is still held, or was
   * erased. Null where the node does not know.
   */
  evidenceState: EvidenceStateShape,
  /** The same of the reviews of the record, in the order of their ids: null of those that other nodes hold. */
  reviewEvidence: Type.Array(
    Closed({ attestationId: RecordIdShape, evidenceState: EvidenceStateShape }, { title: 'ReviewEvidence' }),
  ),
  submittedAt: OrNull(TimestampShape),
  sourceIdHash: OrNull(Sha256Shape),
  recordKind: OrNull(Type.Enum([...RECORD_KINDS])),
  node: NodeIdShape,
  keyId: OrNull(Sha256Shape),
  topic: EntityIdShape,
  ledger: OrNull(Type.String()),
  consensusTimestamp: OrNull(ConsensusTimestampShape),
  /**
   * Linked records that hold: how many, and their ids. `others`: those of nodes that do not speak for the account,
   * which turn no flag. `truncated`: there are more, or may be: the node does not hold
   * the record itself yet.
   */
  links: Closed({
    overrides: CountShape,
    incidents: CountShape,
    session: Type.Boolean(),
    ids: Type.Array(RecordIdShape),
    others: Type.Array(OtherRecordShape, { maxItems: MAX_OTHERS }),
    truncated: Type.Boolean(),
  }),
  problems: ProblemsShape,
  /** Null of a record that cannot be read. */
  verdict: OrNull(VerdictShape),
});
export type VerifyAnswer = Static<typeof VerifyAnswerShape>;

export const VERIFY_EXAMPLE = {
  found: true,
  verified: true,
  sigValid: true,
  attestationId: EXAMPLE_IDS.decision,
  seqNum: 8812,
  securityLevel: SECURITY_LEVEL,
  confirmedAt: EXAMPLE_CONSENSUS.time,
  ...EVIDENCE_EXAMPLE,
  source: PROOF_SOURCE,
  status: 'confirmed',
  hcsSequence: '8812',
  cryptoVerification: { verified: true, checks: CHECKS_EXAMPLE },
  witnessed: true,
  payloadState: 'available',
  evidenceState: 'held',
  reviewEvidence: [{ attestationId: EXAMPLE_IDS.overrideRecord, evidenceState: 'held' }],
  submittedAt: EXAMPLE_SUBMITTED_AT,
  sourceIdHash: EXAMPLE_HASH,
  recordKind: 'decision',
  node: 'eu',
  keyId: EXAMPLE_HASH,
  topic: EXAMPLE_TOPIC,
  ledger: 'mainnet',
  consensusTimestamp: EXAMPLE_CONSENSUS.timestamp,
  links: { overrides: 1, incidents: 0, session: true, ids: [EXAMPLE_IDS.sessionStart], others: [], truncated: false },
  problems: [],
  verdict: VERDICT_EXAMPLE,
};
