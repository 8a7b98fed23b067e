import {
  BatchHeadShape,
  type BatchRecord,
  BatchRecordShape,
  MAX_BATCH_XL,
} from '../../../protocol/api/paid-attest-batch.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';
import { TimeSlices } from '../../concurrency/time-slices.ts';
import { BatchWarnings } from '../batch-warnings.ts';
import { itemError, itemProblem } from '../item-error.ts';
import { fieldError, Problem } from '../problem.ts';
import { additionalWarnings } from '../recording/recording.ts';
import { requireSmallAdditional } from '../recording/sizes.ts';
import { TIERED_CODES, tieredWarnings } from '../recording/tiered-warnings.ts';
import { unknownMembers, validator } from '../validation.ts';
import { paidDecisionDraft, type UnownedDraft } from './paid-decision.ts';

/** A batch whose form is right: not yet anybody's. */
export interface Batch {
  readonly agentId: string;
  readonly drafts: readonly UnownedDraft[];
  /** The caller's own names, in the order of the drafts. */
  readonly recordIds: readonly (string | null)[];
  readonly warnings: readonly string[];
}

/** Name of the long member. */
export const RECORDS = 'records';

const validateHead = validator(BatchHeadShape);
const validateRecord = validator(BatchRecordShape, TIERED_CODES);
const KNOWN: ReadonlySet<string> = new Set(Object.keys(BatchRecordShape.properties));

/** Checks a batch record by record, in slices. Throws `Problem`, its fields named as `records[17].data`. */
export async function batchOf(body: JsonObject): Promise<Batch> {
  const { agentId, records } = headOf(body);
  const drafts: UnownedDraft[] = [];
  const recordIds: (string | null)[] = [];
  const warnings = new BatchWarnings(RECORDS);
  const places = new Map<string, number>();
  await new TimeSlices().each(records, (value, index) => {
    const { request, draft, warned } = atPlace(index, () => recordOf(agentId, value));
    const { recordId } = request;
    const earlier = recordId === undefined ? undefined : places.get(recordId);
    if (earlier !== undefined) throw repeated(index, earlier);
    if (recordId !== undefined) places.set(recordId, index);
    warnings.add(index, warned);
    recordIds.push(recordId ?? null);
    drafts.push(draft);
  });
  return { agentId, drafts, recordIds, warnings: warnings.all };
}

function headOf(body: JsonObject): { agentId: string; records: readonly JsonValue[] } {
  const { records } = body;
  // The records have their own check: this one looks at no more than it must.
  const isList = Array.isArray(records) && records.length > 0 && records.length <= MAX_BATCH_XL;
  const { agentId } = validateHead(isList ? { ...body, records: [null] } : body);
  return { agentId, records: Array.isArray(records) ? records : [] };
}

function recordOf(agentId: string, value: JsonValue) {
  if (!isJsonObject(value)) {
    const errors = [fieldError([], 'type', 'must be an object')];
    throw new Problem('invalid-field', 'must be an object', { errors });
  }
  const request: BatchRecord = validateRecord(value);
  const additional = unknownMembers(value, KNOWN);
  requireSmallAdditional(additional);
  const draft = paidDecisionDraft({ request: { ...request, agentId }, body: { agentId, ...value }, additional });
  const warned = [...additionalWarnings(additional), ...tieredWarnings(request)];
  return { request, draft, warned };
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
