import type { Asserted } from '../../../protocol/chain/asserted.ts';
import { NOT_APPLICABLE_EVENT } from '../../../protocol/frameworks/event-types.ts';
import type { JsonObject, JsonValue } from '../../../protocol/json/value.ts';
import { readRfc3339, TimeError, type Timestamp, timestampOf } from '../../../protocol/time.ts';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** What a decision asserts of itself. */
export interface Assertion {
  readonly event: string | undefined;
  readonly data: JsonObject;
  readonly adverse: boolean | undefined;
  readonly occurredAt: Timestamp | undefined;
}

/**
 * The facts that a decision asserts, as they are signed: no person and no text of the caller's is among them. Undefined
 * where it asserts none. A reason and a review date are those of the event `NOT_APPLICABLE`, out of its `data`.
 */
export function assertedFacts({ event, data, adverse, occurredAt }: Assertion): Asserted | undefined {
  const isEmpty = hasNoMember(data);
  const isNotApplicable = event === NOT_APPLICABLE_EVENT;
  if (occurredAt === undefined && adverse === undefined && !isEmpty && !isNotApplicable) return undefined;
  const facts: Asserted = isNotApplicable ? whyNotApplicable(data) : {};
  if (occurredAt !== undefined) facts.occurredAt = occurredAt;
  if (adverse !== undefined) facts.adverse = adverse;
  if (isEmpty) facts.emptyData = true;
  return Object.keys(facts).length === 0 ? undefined : facts;
}

/** Why a review date is not signed. */
export function reviewDateWarnings(event: string | undefined, { reviewDueAt }: JsonObject): string[] {
  if (event !== NOT_APPLICABLE_EVENT || reviewDueAt === undefined || timeOrDay(reviewDueAt) !== undefined) return [];
  return ['data.reviewDueAt: is no RFC 3339 time and no day; it stays in the payload and is not signed as a date'];
}

function whyNotApplicable({ reason, reviewDueAt }: JsonObject): Asserted {
  const due = timeOrDay(reviewDueAt);
  const facts: Asserted = {};
  if (typeof reason === 'string' && reason.trim() !== '') facts.reasonGiven = true;
  if (due !== undefined) facts.reviewDueAt = due;
  return facts;
}

/** A time as RFC 3339, or the first moment of a day of UTC; undefined of anything else. */
function timeOrDay(value: JsonValue | undefined): Timestamp | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    return timestampOf(readRfc3339(DAY.test(value) ? `${value}T00:00:00Z` : value));
  } catch (error) {
    if (error instanceof TimeError) return undefined;
    throw error;
  }
}

function hasNoMember(data: JsonObject): boolean {
  for (const _name in data) return false;
  return true;
}
