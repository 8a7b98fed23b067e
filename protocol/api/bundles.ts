import Type, { type Static } from 'typebox';
import { BUNDLE_FORMAT, BundleShape, MAX_LINKED_PROOFS } from '../bundle/bundle.ts';
import { ANCHORING_STATUSES, PAYLOAD_STATES } from '../bundle/verdict.ts';
import { Closed, NodeIdShape, OrNull, RecordIdShape, TimestampShape } from '../shapes.ts';
import { RECORD_KINDS } from '../statement/vocabulary.ts';
import { CHECKS_EXAMPLE, ChecksShape, FindingsShape } from './checks.ts';
import { EVIDENCE, EVIDENCE_EXAMPLE } from './evidence.ts';
import { EXAMPLE_CONSENSUS, EXAMPLE_HASH, EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT, EXAMPLE_TOPIC } from './example-ids.ts';

/** `GET /v1/bundles/:id`: the bare bundle. */
export const BundleAnswerShape = BundleShape;

const SwitchShape = Type.Enum(['0', '1']);

/** `GET /v1/bundles/:id`: what is asked for where it is `1`. */
export const BundleQueryShape = Closed({
  /** What there is of a record that is not on the ledger yet. */
  partial: Type.Optional(SwitchShape),
  /** Salt and payload. */
  disclosure: Type.Optional(SwitchShape),
  /** The linked records that the evidence rules read. */
  linked: Type.Optional(SwitchShape),
});

/** `POST /v1/bundles/verify`: the checks on a bundle that anyone brings. */
export const BundleVerdictShape = Closed({
  verified: Type.Boolean(),
  witnessed: Type.Boolean(),
  checks: ChecksShape,
  payloadState: Type.Enum([...PAYLOAD_STATES]),
  status: Type.Enum([...ANCHORING_STATUSES]),
  problems: FindingsShape,
  /** Null where it cannot be read. */
  record: OrNull(
    Closed({ id: RecordIdShape, kind: Type.Enum([...RECORD_KINDS]), node: NodeIdShape, submittedAt: TimestampShape }),
  ),
  ...EVIDENCE,
  /** In the order of the bundle. One that does not hold counts for nothing. */
  linked: Type.Array(
    Closed({
      id: OrNull(RecordIdShape),
      kind: OrNull(Type.Enum([...RECORD_KINDS])),
      holds: Type.Boolean(),
      problems: FindingsShape,
    }),
    { maxItems: MAX_LINKED_PROOFS },
  ),
});
export type BundleVerdictAnswer = Static<typeof BundleVerdictShape>;

const RUNNING_HASH = `sha384:${'3b'.repeat(48)}`;

/** Of the right form, with its statements, signatures and keys cut short: it does not verify. */
export const BUNDLE_EXAMPLE = {
  format: BUNDLE_FORMAT,
  record: {
    head: '{"body":"sha256:9f86…","v":2}',
    body: '{"account":"acc_eu_example","claims":{"channel":"direct"}}',
  },
  receipt: { statement: '{"type":"group","v":1}', signature: 'c2lnbmF0dXJl', path: [EXAMPLE_HASH] },
  batch: { envelope: '{"type":"batch","v":1}', signature: 'c2lnbmF0dXJl', path: [EXAMPLE_HASH, EXAMPLE_HASH] },
  cosignatures: [{ statement: '{"type":"cosign","v":1}', signature: 'c2lnbmF0dXJl' }],
  anchor: {
    network: 'mainnet',
    topicId: EXAMPLE_TOPIC,
    payer: '0.0.4242',
    sequence: '8812',
    consensusTimestamp: EXAMPLE_CONSENSUS.timestamp,
    transactionId: '0.0.4242@1795253407.511000000',
    message: '{"type":"batch","v":2}',
    previousRunningHash: RUNNING_HASH,
    runningHash: RUNNING_HASH,
  },
  keys: [{ statement: '{"type":"key","v":1}', signature: 'c2lnbmF0dXJl' }],
  revocations: [],
  rosters: [{ statement: '{"type":"roster","v":2}', signatures: [{ node: 'eu', signature: 'c2lnbmF0dXJl' }] }],
};

export const BUNDLE_VERDICT_EXAMPLE = {
  verified: true,
  witnessed: true,
  checks: CHECKS_EXAMPLE,
  payloadState: 'available',
  status: 'confirmed',
  problems: [],
  record: { id: EXAMPLE_IDS.decision, kind: 'decision', node: 'eu', submittedAt: EXAMPLE_SUBMITTED_AT },
  ...EVIDENCE_EXAMPLE,
  linked: [{ id: EXAMPLE_IDS.sessionStart, kind: 'session_start', holds: true, problems: [] }],
};
