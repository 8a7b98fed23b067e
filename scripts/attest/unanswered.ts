import { UsageError } from '../../node/config/command-line.ts';
import { IDEMPOTENCY_MS } from '../../node/intake/idempotency.ts';
import type { DecisionLine } from './decision-file.ts';
import { digestOf } from './digest.ts';
import type { State } from './state-file.ts';

/** Between the clocks of the client and the node, and for a request to arrive. In milliseconds. */
const MARGIN_MS = 3_600_000;

/**
 * Whether a node surely knows again what was first sent at a time, in epoch milliseconds. Of a time to come nothing is
 * sure: the clock here was ahead then, or is behind now.
 */
export function isKnownAgain(at: number): boolean {
  const age = Date.now() - at;
  return age > -MARGIN_MS && age < IDEMPOTENCY_MS - MARGIN_MS;
}

/** What the caller found out about sendings that have no answer: the first line of each. */
export interface Found {
  /** The node recorded it. */
  readonly recorded: readonly string[];
  /** It did not. */
  readonly lost: readonly string[];
}

/**
 * Settles by the caller's word each sending without an answer that a node may not know again: what is recorded counts
 * as accepted, what is lost is sent as new lines. Throws `UsageError` where the caller says nothing of one, or speaks of
 * what is none; nothing is settled then. `lines`: of the file, which are those that were sent.
 */
export async function settleUnknown(
  state: State,
  lines: AsyncIterable<DecisionLine>,
  { recorded, lost }: Found,
): Promise<void> {
  const unknown = [...state.unanswered].filter(([, { at }]) => !isKnownAgain(at));
  for (const [flag, named] of Object.entries({ recorded, lost })) {
    const stray = named.find((text) => !unknown.some(([first]) => `${first}` === text));
    if (stray === undefined) continue;
    throw new UsageError(`--${flag} ${stray}: nothing that begins at such a line waits for your word`);
  }
  if (unknown.length === 0) return;
  for (const [first, { last, at }] of unknown) {
    if (recorded.includes(`${first}`) !== lost.includes(`${first}`)) continue;
    throw new UsageError(
      `${linesText(first, last)} sent at ${new Date(at).toISOString()} without an answer, and a node knows for ` +
        `${IDEMPOTENCY_MS / 3_600_000} hours what it has recorded already: look for the records (GET /v1/attestations ` +
        `by sourceId and from), and say --recorded ${first} if they are there, or --lost ${first} if they are not`,
    );
  }
  const known = unknown.filter(([first]) => recorded.includes(`${first}`));
  for await (const { number, text } of lines) {
    const isRecorded = known.some(([first, { last }]) => first <= number && number <= last);
    if (isRecorded && !state.accepted.has(number)) await state.accept(number, null, digestOf(text));
  }
  for (const [first] of unknown) await state.end(first);
}

/** Lines of a file, with the verb that follows. */
export function linesText(first: number, last: number): string {
  return first === last ? `line ${first} was` : `lines ${first} to ${last} were`;
}
