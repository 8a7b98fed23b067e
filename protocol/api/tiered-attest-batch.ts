import Type, { type Static } from 'typebox';
import { Closed, CountShape, OrNull, RecordIdShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { TIERED_ATTEST_EXAMPLE } from './attest-answer.ts';
import { StatusShape, WarningsShape } from './envelope.ts';
import { EXAMPLE_HASH, EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { MAX_BATCH } from './paid-attest-batch.ts';
import { TieredAttestRequestShape } from './tiered-attest.ts';

/** `POST /v1/tiered-attest-batch`: decisions, each as a leaf of its own. */
export const TieredAttestBatchRequestShape = Type.Array(TieredAttestRequestShape, { minItems: 1, maxItems: MAX_BATCH });

const RecordedShape = Closed({ attestationId: RecordIdShape, payloadHash: Sha256Shape }, { title: 'BatchRecorded' });
const RefusedShape = Closed(
  {
    /** As in a refusal of `POST /v1/tiered-attest`. */
    code: Type.String(),
    detail: Type.String(),
    /** The member at fault. */
    field: Type.Optional(Type.String()),
  },
  { title: 'BatchRefused' },
);

export const TieredAttestBatchAnswerShape = Closed({
  success: Type.Literal(true),
  /** Decisions that were recorded, and that were not. */
  count: CountShape,
  refused: CountShape,
  tier: Type.Integer(),
  status: StatusShape,
  /** Of all of the records; null where none was made. */
  submittedAt: OrNull(TimestampShape),
  anchorExpectedBy: OrNull(TimestampShape),
  /** One for each decision, in the order of the request. */
  results: Type.Array(Type.Union([RecordedShape, RefusedShape]), { maxItems: MAX_BATCH }),
  warnings: WarningsShape,
});
export type TieredAttestBatchAnswer = Static<typeof TieredAttestBatchAnswerShape>;
/** What became of one decision. */
export type BatchResult = TieredAttestBatchAnswer['results'][number];

const [FIRST, SECOND] = [
  { sourceId: EXAMPLE_IDS.source, data: { input: { case: 'A-20' }, output: { decision: 'grant' } } },
  { ...TIERED_ATTEST_EXAMPLE.request, data: { input: { case: 'A-21' }, output: { decision: 'refer to a person' } } },
];

export const TIERED_ATTEST_BATCH_EXAMPLE = {
  request: [FIRST, SECOND],
  lines: `${JSON.stringify(FIRST)}\n${JSON.stringify(SECOND)}\n`,
  answer: {
    success: true,
    count: 1,
    refused: 1,
    tier: TIERED_ATTEST_EXAMPLE.answer.tier,
    status: 'buffered',
    submittedAt: EXAMPLE_SUBMITTED_AT,
    anchorExpectedBy: TIERED_ATTEST_EXAMPLE.answer.anchorExpectedBy,
    results: [
      { attestationId: EXAMPLE_IDS.decision, payloadHash: EXAMPLE_HASH },
      { code: 'missing-field', detail: 'data is required', field: 'data' },
    ],
    warnings: [],
  },
};
