import {
  BATCH_REQUEST_EXAMPLE,
  batchAnswerExample,
  BatchAnswerShape,
  BatchHeadShape,
  type BatchRecord,
  BatchRecordShape,
  BatchRequestShape,
  MAX_BATCH,
  MAX_BATCH_XL,
} from '../../../protocol/api/paid-attest-batch.ts';
import { encodeBase64url } from '../../../protocol/bytes.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';
import { type BatchService, SERVICES } from '../../../protocol/payments/prices.ts';
import type { Blank } from '../../payments/answer-draft.ts';
import type { PreparedRecord } from '../../payments/paid-recording.ts';
import { payloadHandle } from '../../verification/attestation/attestation-answer.ts';
import type { BodyLimits } from '../body.ts';
import { itemError, itemProblem } from '../long-body.ts';
import { fieldError, fieldProblem, Problem } from '../problem.ts';
import { occurredAtOf } from '../recording/decision-claims.ts';
import { additionalWarnings } from '../recording/recording.ts';
import { requireSmallAdditional } from '../recording/sizes.ts';
import { BatchWarnings, TIERED_CODES, tieredWarnings } from '../recording/tiered-warnings.ts';
import type { BodyItems, PaidCall, PaidRoute } from '../route.ts';
import { unknownMembers, validator } from '../validation.ts';
import {
  ATTESTATION_BLANKS,
  attestationTail,
  ownedDraft,
  paidDecisionDraft,
  type SaltedDraft,
  type VerifyUrl,
} from './attested-summary.ts';

/** A batch whose form is right. Its decisions are parsed anew where they are drafted: a wallet may have no money. */
interface Batch {
  readonly agentId: string;
  /** The caller's own names, in order. */
  readonly recordIds: readonly (string | null)[];
  readonly warnings: readonly string[];
}

/** Name of the long member. */
const RECORDS = 'records';

const validateHead = validator(BatchHeadShape);
const validateRecord = validator(BatchRecordShape, TIERED_CODES);
const KNOWN: ReadonlySet<string> = new Set(Object.keys(BatchRecordShape.properties));

/** Checks a batch record by record, in slices. Throws `Problem`, its fields named as `records[17].data`. */
async function batchOf(body: JsonObject, items: BodyItems, now: () => number): Promise<Batch> {
  const agentId = agentOf(body);
  const recordIds: (string | null)[] = [];
  const warnings = new BatchWarnings(RECORDS);
  const places = new Map<string, number>();
  await items.each((value, index) => {
    const { request, additional } = atPlace(index, () => decisionOf(agentId, value, now));
    const { recordId } = request;
    const earlier = recordId === undefined ? undefined : places.get(recordId);
    if (earlier !== undefined) throw repeated(index, earlier);
    if (recordId !== undefined) places.set(recordId, index);
    warnings.add(index, [...additionalWarnings(additional), ...tieredWarnings(request)]);
    recordIds.push(recordId ?? null);
  });
  return { agentId, recordIds, warnings: warnings.all };
}

function agentOf(body: JsonObject): string {
  const { records } = body;
  // The records have their own check: this one looks at no more than it must.
  const isList = Array.isArray(records) && records.length > 0 && records.length <= MAX_BATCH_XL;
  return validateHead(isList ? { ...body, records: [null] } : body).agentId;
}

/** A decision of a batch, its form checked. Throws `Problem`. */
function decisionOf(agentId: string, value: JsonValue, now: () => number) {
  if (!isJsonObject(value)) {
    const errors = [fieldError([], 'type', 'must be an object')];
    throw new Problem('invalid-field', 'must be an object', { errors });
  }
  const request: BatchRecord = validateRecord(value);
  requireAgent(agentId, request);
  const additional = unknownMembers(value, KNOWN);
  requireSmallAdditional(additional);
  const body = { agentId, ...value };
  return { request: { ...request, agentId }, body, additional, occurredAt: occurredAtOf(request, now) };
}

/** One agent stands for all records of a batch. Throws `Problem` 400 where a record names another. */
function requireAgent(agentId: string, { agentId: own = agentId }: BatchRecord): void {
  if (own !== agentId) throw fieldProblem('agentId', 'agent', 'is not the agent of the batch');
}

function atPlace<Result>(index: number, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof Problem ? itemProblem(RECORDS, index, error) : error;
  }
}

function repeated(index: number, earlier: number): Problem {
  const message = `is that of ${RECORDS}[${earlier}]`;
  const error = itemError(RECORDS, index, 'unique', message, 'recordId');
  return new Problem('invalid-field', `${error.field} ${message}`, { errors: [error] });
}

export interface BatchServices {
  readonly verifyUrl: VerifyUrl;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Of the answer, what is known once the records are made. */
const BATCH_BLANKS: readonly Blank[] = [...ATTESTATION_BLANKS, { at: ['merkleRoot'], is: 'groupRoot' }];

const MAX_RECORDS: Readonly<Record<BatchService, number>> = {
  'tiered-attest-batch': MAX_BATCH,
  'tiered-attest-batch-xl': MAX_BATCH_XL,
};
const MAX_BATCH_BYTES = 32 << 20;
/** Of one record as it is sent. */
const MAX_RECORD_BYTES = 64 << 10;
/** Members and items of all records together. */
const MAX_BATCH_VALUES = 1 << 20;
const BATCH_DEADLINE_MS = 60_000;
/** Of the bounds on bodies, in the words of the documentation. */
const MEBIBYTE = 1 << 20;

/** `POST /v1/x402/tiered-attest-batch` and `…-xl` (api-rules §4.1): many decisions, all or none. */
export function batchRoute(services: BatchServices, service: BatchService): PaidRoute {
  const { path, usd } = SERVICES[service];
  const maxItems = MAX_RECORDS[service];
  return {
    method: 'POST',
    path,
    access: 'paid',
    service,
    body: bodyLimits(maxItems),
    documentation: {
      summary: `Records up to ${maxItems} decisions in one call, for a payment`,
      description:
        'All of the records are made, in one signed group and one write, or none is. Each is a record of its own, whose ' +
        'payload is the record as it was sent with `agentId` added, and which is verified by its own `attestationId`. ' +
        '`agentId` is the payer’s word: no agent signs, as in `POST /v1/x402/tiered-attest`; a record may repeat it, ' +
        'and names no other. `attestation` is the first ' +
        'record; `merkleRoot` is the root of the signed group in which all of them stand side by side. Faults are ' +
        `named as \`records[17].data\`. A body has at most ${MAX_BATCH_BYTES / MEBIBYTE} MiB and ${MAX_BATCH_VALUES} ` +
        `values, a record ${MAX_RECORD_BYTES >> 10} KiB as it is sent.`,
      request: { shape: BatchRequestShape(maxItems), example: BATCH_REQUEST_EXAMPLE },
      answer: { shape: BatchAnswerShape(maxItems), example: batchAnswerExample(usd) },
      problems: ['model-binding-invalid', 'time-in-future', 'scope-forbidden', 'queue-full'],
    },
    async prepare(_call, body, items) {
      const batch = await batchOf(body, items, services.now);
      return async (paid) => {
        const drafts = await draftsOf(paid, batch.agentId, items, services.now);
        const records = await paid.recording.prepare(drafts);
        return { body: answerOf(services, batch, drafts, records), blanks: BATCH_BLANKS };
      };
    },
  };
}

function bodyLimits(maxItems: number): BodyLimits {
  const items = { member: RECORDS, maxItems, maxItemBytes: MAX_RECORD_BYTES, maxValues: MAX_BATCH_VALUES };
  return { maxBytes: MAX_BATCH_BYTES, deadlineMs: BATCH_DEADLINE_MS, items };
}

/** Throws `Problem` 403 where an API key came along that is bound to other sources. */
async function draftsOf(
  paid: PaidCall,
  agentId: string,
  items: BodyItems,
  now: () => number,
): Promise<readonly SaltedDraft[]> {
  const drafts: SaltedDraft[] = [];
  await items.each((value, index) => {
    const draft = paidDecisionDraft(atPlace(index, () => decisionOf(agentId, value, now)));
    drafts.push(ownedDraft(draft, paid));
  });
  return drafts;
}

function answerOf(
  { verifyUrl }: BatchServices,
  { agentId, recordIds, warnings }: Batch,
  drafts: readonly SaltedDraft[],
  records: readonly PreparedRecord[],
): JsonObject {
  const [first] = records;
  if (first === undefined) throw new RangeError('a batch has at least one record');
  const attestation = attestationTail(first, verifyUrl);
  return {
    success: true,
    agentId,
    batchId: `pbt${first.id.slice(first.id.indexOf('_'))}`,
    count: records.length,
    status: attestation.status,
    results: records.map(({ id, payloadHash }, index) => ({
      index,
      recordId: recordIds[index] ?? null,
      attestationId: id,
      payloadHash,
      payloadKey: payloadHandle(id),
      salt: encodeBase64url(drafts[index]?.salt ?? new Uint8Array()),
    })),
    merkleRoot: null,
    warnings,
    attestation,
  };
}
