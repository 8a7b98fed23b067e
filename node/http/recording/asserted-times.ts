import { readRfc3339, timestampOf, TimeError } from '../../../protocol/time.ts';
import { fieldProblem } from '../problem.ts';

/** How far a caller's clock may be ahead of ours. In milliseconds. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000;
const DAY_MS = 24 * 3_600_000;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** What a caller's time may mean, in epoch milliseconds: one moment, or any of a day's. */
export interface AssertedTime {
  readonly first: number;
  readonly last: number;
}

/** A time that a caller asserts, as RFC 3339. Throws `Problem` `invalid-field`. */
export function readTime(field: string, text: string): AssertedTime {
  const at = momentOf(text);
  if (at === undefined) throw fieldProblem(field, 'format', 'must be an RFC 3339 time');
  return { first: at, last: at };
}

/** A time as RFC 3339, or a day of UTC. Throws `Problem` `invalid-field`. */
export function readTimeOrDay(field: string, text: string): AssertedTime {
  if (!DAY.test(text)) return readTime(field, text);
  const first = momentOf(`${text}T00:00:00Z`);
  if (first === undefined) throw fieldProblem(field, 'format', 'must be a day that exists');
  return { first, last: first + DAY_MS - 1 };
}

/** Throws `Problem` `time-in-future` where a time is certainly still to come. `now` is in epoch milliseconds. */
export function requirePast(field: string, { first }: AssertedTime, now: number): void {
  if (first <= now + MAX_CLOCK_SKEW_MS) return;
  throw fieldProblem(field, 'future', `lies after ${timestampOf(now)}`, 'time-in-future');
}

/** Throws `Problem` `time-order` where a time is certainly before another one that it must follow. */
export function requireOrder(field: string, time: AssertedTime, after: string, earlier: AssertedTime): void {
  if (time.last >= earlier.first) return;
  throw fieldProblem(field, 'time-order', `is before ${after}`, 'time-order');
}

/** Undefined for what is no time, or none that we could write. */
function momentOf(text: string): number | undefined {
  try {
    const at = readRfc3339(text);
    timestampOf(at);
    return at;
  } catch (error) {
    if (error instanceof TimeError) return undefined;
    throw error;
  }
}
