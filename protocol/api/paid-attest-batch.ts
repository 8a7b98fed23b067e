import Type, { type Static } from 'typebox';
import { Closed, CountShape, OrNull, RecordIdShape, Sha256Shape } from '../shapes.ts';
import { AgentIdShape } from './agent-fields.ts';
import { StatusShape, WarningsShape } from './envelope.ts';
import { EXAMPLE_HASH, EXAMPLE_IDS } from './example-ids.ts';
import { TextShape } from './fields.ts';
import { PaidShape, paidTailExample } from './paid-answer.ts';
import { EXAMPLE_SALT, PAID_DECISION_MEMBERS, SaltShape } from './paid-tiered-attest.ts';

/** Records of one call of each kind of batch. */
export const MAX_BATCH = 1_000;
export const MAX_BATCH_XL = 5_000;
const MAX_RECORD_ID = 128;

/** One decision of a batch. */
export const BatchRecordShape = Type.Object(
  {
    ...PAID_DECISION_MEMBERS,
    /** The caller's own name for it, unique in the batch. */
    recordId: Type.Optional(TextShape(1, MAX_RECORD_ID)),
    /** That of the batch, said again. */
    agentId: Type.Optional(AgentIdShape),
  },
  { title: 'BatchRecord' },
);
export type BatchRecord = Static<typeof BatchRecordShape>;

/** What stands beside the records of a batch. */
export const BatchHeadShape = Closed({ agentId: AgentIdShape, records: Type.Array(Type.Unknown(), { minItems: 1 }) });

/** `POST /v1/x402/tiered-attest-batch` and `…-xl`. */
export function BatchRequestShape(maxRecords: number) {
  return Closed({
    agentId: AgentIdShape,
    records: Type.Array(BatchRecordShape, { minItems: 1, maxItems: maxRecords }),
  });
}

export function BatchAnswerShape(maxRecords: number) {
  return PaidShape({
    agentId: Type.String(),
    /** Names the call: the id of its first record under another prefix. */
    batchId: Type.String({ pattern: '^pbt_[a-z]{2}[0-9]{0,2}_[0-9A-HJKMNP-TV-Z]{26}$' }),
    count: CountShape,
    status: StatusShape,
    /** In the order of the request. */
    results: Type.Array(
      Closed(
        {
          index: CountShape,
          recordId: OrNull(Type.String()),
          attestationId: RecordIdShape,
          payloadHash: Sha256Shape,
          payloadKey: Type.String(),
          salt: SaltShape,
        },
        { title: 'PaidBatchResult' },
      ),
      { maxItems: maxRecords },
    ),
    /** Root of the signed group that the records stand in, side by side. */
    merkleRoot: OrNull(Sha256Shape),
    warnings: WarningsShape,
  });
}

const EXAMPLE_RECORDS = [
  { recordId: 'case-A-18', data: { input: { case: 'A-18' }, output: { decision: 'grant' } } },
  {
    recordId: 'case-A-19',
    data: { input: { case: 'A-19' }, output: { decision: 'refer to a person' } },
    model_ref: { model_id: 'loan-model', model_version: '4.2' },
    complianceMeta: { riskLevel: 'high', jurisdiction: ['EU'] },
    sourceId: EXAMPLE_IDS.source,
  },
];

export const BATCH_REQUEST_EXAMPLE = { agentId: EXAMPLE_IDS.agent, records: EXAMPLE_RECORDS };

export function batchAnswerExample(usd: string) {
  const ids = [EXAMPLE_IDS.decision, EXAMPLE_IDS.overrideRecord];
  return {
    success: true,
    agentId: EXAMPLE_IDS.agent,
    batchId: EXAMPLE_IDS.decision.replace('att', 'pbt'),
    count: EXAMPLE_RECORDS.length,
    status: 'buffered',
    results: EXAMPLE_RECORDS.map(({ recordId }, index) => ({
      index,
      recordId,
      attestationId: ids[index] ?? EXAMPLE_IDS.decision,
      payloadHash: EXAMPLE_HASH,
      payloadKey: (ids[index] ?? EXAMPLE_IDS.decision).replace('att', 'pk'),
      salt: EXAMPLE_SALT,
    })),
    merkleRoot: EXAMPLE_HASH,
    warnings: [],
    ...paidTailExample(usd),
  };
}
