import Type from 'typebox';
import { Closed, OrdinalShape, RecordIdShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { ENVELOPE_EXAMPLE, ENVELOPE_MEMBERS, StatusShape, WarningsShape } from './envelope.ts';
import { EXAMPLE_HASH, EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';

const HashOrNull = Type.Union([Sha256Shape, Type.Null()]);
const EXPECTED_BY = '2026-11-21T09:31:30.000Z';

/** What `POST /v1/attest` answers: commitments to the parts of the decision, and its place among its source's. */
export const AttestAnswerShape = Closed({
  ...ENVELOPE_MEMBERS,
  inputHash: HashOrNull,
  outputHash: HashOrNull,
  dataHash: HashOrNull,
  sourceSeq: OrdinalShape,
  anchorExpectedBy: TimestampShape,
});

export const ATTEST_EXAMPLE = {
  request: {
    sourceId: EXAMPLE_IDS.source,
    data: { input: { case: 'A-17', amount: 25_000 }, output: { decision: 'refer to a person' } },
    modelId: 'loan-model',
    modelVersion: '4.2',
    confidenceScore: 0.61,
    riskLevel: 'high',
    environment: 'production',
    referenceDatabase: 'credit-bureau-2026-11',
    matched: true,
    clientTimestamp: '2026-11-21T09:29:58.412Z',
    model_ref: { model_id: 'loan-model', model_version: '4.2', third_party_model: false, system_id: 'lending' },
    complianceMeta: { riskLevel: 'high', jurisdiction: ['EU', 'DE'], serviceEventType: 'DECISION' },
    occurredAt: '2026-11-21T09:29:57.000Z',
    adverse: false,
    subjectRef: 'applicant-2207',
  },
  answer: {
    ...ENVELOPE_EXAMPLE,
    inputHash: EXAMPLE_HASH,
    outputHash: EXAMPLE_HASH,
    dataHash: EXAMPLE_HASH,
    sourceSeq: 1042,
    anchorExpectedBy: EXPECTED_BY,
  },
};

/** What `POST /v1/tiered-attest` answers. `payloadKey` is a handle of the encrypted payload, and no key. */
export const TieredAttestAnswerShape = Closed({
  success: Type.Literal(true),
  attestationId: RecordIdShape,
  tier: Type.Integer(),
  status: StatusShape,
  payloadKey: Type.String(),
  submittedAt: TimestampShape,
  payloadHash: Sha256Shape,
  verifyUrl: Type.String(),
  warnings: WarningsShape,
  anchorExpectedBy: TimestampShape,
});

export const TIERED_ATTEST_EXAMPLE = {
  request: {
    sourceId: EXAMPLE_IDS.source,
    data: { input: { case: 'A-18' }, output: { decision: 'grant' } },
    model_ref: { model_id: 'loan-model', model_version: '4.2', third_party_model: false, system_id: 'lending' },
    complianceMeta: {
      riskLevel: 'high',
      populationGroup: 'retail',
      jurisdiction: ['EU', 'DE'],
      serviceEventType: 'DECISION',
    },
    environment: 'production',
    confidenceScore: 0.87,
    occurredAt: '2026-11-21T09:29:57.000Z',
    adverse: false,
  },
  answer: {
    success: true,
    attestationId: EXAMPLE_IDS.decision,
    tier: 1,
    status: 'buffered',
    payloadKey: EXAMPLE_IDS.decision.replace('att', 'pk'),
    submittedAt: EXAMPLE_SUBMITTED_AT,
    payloadHash: EXAMPLE_HASH,
    verifyUrl: ENVELOPE_EXAMPLE.verifyUrl,
    warnings: [],
    anchorExpectedBy: EXPECTED_BY,
  },
};
