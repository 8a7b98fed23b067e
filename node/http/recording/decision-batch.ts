import Type, { type Static } from 'typebox';
import type { BatchResult } from '../../../protocol/api/tiered-attest-batch.ts';
import { type TieredAttestRequest, TieredAttestRequestShape } from '../../../protocol/api/tiered-attest.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { AUTHORITY_NOTIFICATION } from '../../../protocol/compliance/notification-clock.ts';
import { NOT_APPLICABLE_EVENT } from '../../../protocol/frameworks/event-types.ts';
import { isJsonObject, type JsonValue } from '../../../protocol/json/value.ts';
import { Compile } from '../../../protocol/shape-check.ts';
import { Closed, CountShape } from '../../../protocol/shapes.ts';
import type { Caller } from '../../accounts/caller.ts';
import { type DecisionDraft, tieredDraft } from '../../verification/attestation/decision-drafts.ts';
import { problemOf } from '../domain-problems.ts';
import { fieldError, Problem } from '../problem.ts';
import { unknownMembers, validator } from '../validation.ts';
import { occurredAtOf } from './decision-claims.ts';
import { additionalWarnings, requireReach } from './recording.ts';
import { requireSmallAdditional, requireSmallData } from './sizes.ts';
import { BatchWarnings, TIERED_CODES, tieredWarnings } from './tiered-warnings.ts';

/** A decision that is not refused so far. Its draft is replaced as it is linked. */
export interface BatchedDecision {
  readonly index: number;
  /** Null where it names nothing that it is to be linked to: what was parsed of so many is not held for nothing. */
  readonly request: TieredAttestRequest | null;
  draft: DecisionDraft;
}

/** A decision that names what it is to be linked to. */
export interface NamingDecision extends BatchedDecision {
  readonly request: TieredAttestRequest;
}

const RefusalShape = Closed({
  index: CountShape,
  code: Type.String(),
  detail: Type.String(),
  field: Type.Optional(Type.String()),
});
type Refusal = Static<typeof RefusalShape>;

/** What an answer says of a batch beside its records' own texts: kept with them where the request may come again. */
const BatchRemarksShape = Closed({
  /** Decisions in all. */
  size: CountShape,
  refusals: Type.Array(RefusalShape),
  warnings: Type.Array(Type.String()),
});
export type BatchRemarks = Static<typeof BatchRemarksShape>;

/** What is said of one decision is cut here: names of members come from the caller. In UTF-16 units. */
const MAX_TEXT = 300;

const validate = validator(TieredAttestRequestShape, TIERED_CODES);
const remarks = Compile(BatchRemarksShape);
const KNOWN: ReadonlySet<string> = new Set(Object.keys(TieredAttestRequestShape.properties));

/**
 * The decisions of one batch, each with its draft or with why it is refused; a refused one keeps none of the others.
 */
export class DecisionBatch {
  readonly #caller: Caller;
  readonly #now: () => number;
  readonly #decisions: BatchedDecision[] = [];
  readonly #refusals = new Map<number, Refusal>();
  readonly #warnings = new BatchWarnings('');
  #size = 0;

  /** `now`: epoch milliseconds. */
  constructor(caller: Caller, now: () => number) {
    this.#caller = caller;
    this.#now = now;
  }

  /** Checks the next decision and makes its draft. Throws what is no refusal of a decision. */
  add(value: JsonValue, index: number): void {
    this.#size++;
    try {
      this.#decisions.push(this.#draftOf(value, index));
    } catch (error) {
      this.refuse(index, error);
    }
  }

  /** Throws the error where it is not the decision's fault. */
  refuse(index: number, error: unknown): void {
    const problem = problemOf(error);
    if (!(problem instanceof Problem) || problem.status >= 500) throw error;
    const [fault] = problem.errors;
    const field = fault === undefined || fault.field === '' ? {} : { field: cut(fault.field) };
    this.#refusals.set(index, { index, code: problem.code, detail: cut(problem.detail), ...field });
  }

  /** Also of a decision that is refused later. */
  warn(index: number, warnings: readonly string[]): void {
    if (warnings.length > 0) this.#warnings.add(index, warnings.map(cut));
  }

  /** Those that are not refused, in order. */
  get decisions(): readonly BatchedDecision[] {
    return this.#refusals.size === 0
      ? this.#decisions
      : this.#decisions.filter(({ index }) => !this.#refusals.has(index));
  }

  /** Those of them that name what they are to be linked to. */
  get naming(): readonly NamingDecision[] {
    return this.decisions.filter(isNaming);
  }

  /** Hands over the drafts of those that are not refused, in order, and holds none of them any more. */
  takeDrafts(): DecisionDraft[] {
    const drafts = this.decisions.map(({ draft }) => draft);
    this.#decisions.length = 0;
    return drafts;
  }

  get remarks(): BatchRemarks {
    const refusals = [...this.#refusals.values()].toSorted((one, other) => one.index - other.index);
    return { size: this.#size, refusals, warnings: [...this.#warnings.all] };
  }

  #draftOf(value: JsonValue, index: number): BatchedDecision {
    if (!isJsonObject(value)) {
      throw new Problem('invalid-field', 'must be an object', {
        errors: [fieldError([], 'type', 'must be an object')],
      });
    }
    const request = validate(value);
    const additional = unknownMembers(value, KNOWN);
    requireSmallAdditional(additional);
    requireReach(this.#caller, request.sourceId);
    const draft = tieredDraft(
      this.#caller.account.id,
      { request, body: value, additional },
      occurredAtOf(request, this.#now),
    );
    requireSmallData(draft.decision.data);
    this.warn(index, [...additionalWarnings(additional), ...tieredWarnings(request)]);
    return { index, request: namesAny(request, draft) ? request : null, draft };
  }
}

/** The results of a batch, in the order of its decisions. `records`: those that were made, in the same order. */
export function resultsOf({ size, refusals }: BatchRemarks, records: readonly AttestationRecord[]): BatchResult[] {
  const refused = new Map(refusals.map(({ index, ...refusal }) => [index, refusal]));
  const made = records.values();
  return Array.from({ length: size }, (_, index) => {
    const refusal = refused.get(index);
    if (refusal !== undefined) return refusal;
    const { value: record } = made.next();
    if (record === undefined) throw new RangeError('a decision of the batch has no record');
    return { attestationId: record.id, payloadHash: record.payloadHash };
  });
}

/** What was kept with a batch's records. Throws `RangeError` where it is something else. */
export function readRemarks(kept: JsonValue): BatchRemarks {
  if (remarks.Check(kept)) return kept;
  throw new RangeError('what was kept of a batch is damaged');
}

function isNaming(decision: BatchedDecision): decision is NamingDecision {
  return decision.request !== null;
}

function namesAny(request: TieredAttestRequest, { claims: { eventType } }: DecisionDraft): boolean {
  const { agentId, agentSalt, agentSignature, sessionId, incidentId, subjectRef, relatedAttestationIds } = request;
  const named = [agentId, agentSalt, agentSignature, sessionId, incidentId, subjectRef, relatedAttestationIds];
  // Of these events `data` may name an incident, or who asserts it.
  const mayNameInData = eventType === AUTHORITY_NOTIFICATION || eventType === NOT_APPLICABLE_EVENT;
  return mayNameInData || named.some((name) => name !== undefined);
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT).toWellFormed()}…`;
}
