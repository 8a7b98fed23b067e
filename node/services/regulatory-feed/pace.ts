/** First pause after a failure; doubled with each further one in a row. In milliseconds. */
const FIRST_RETRY_MS = 60_000;
const MAX_RETRY_MS = 6 * 3_600_000;
/** A source that asks for more is asked again after this. In milliseconds. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;
/** Parts of a pause that chance decides about, so that nodes do not ask together. */
const JITTER = 0.1;
const FAILURE_JITTER = 0.5;

/** The pause after a source has answered. `random` in [0, 1). In milliseconds. */
export function pauseAfterSuccess(intervalMs: number, random: number): number {
  return Math.round(intervalMs * (1 + JITTER * random));
}

/** The pause after `failures` in a row: never shorter than the source asks for, within a day. In milliseconds. */
export function pauseAfterFailure(failures: number, retryAfterMs: number | null, random: number): number {
  const doubled = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(30, Math.max(0, failures - 1)));
  const asked = Math.min(MAX_RETRY_AFTER_MS, retryAfterMs ?? 0);
  return Math.round(Math.max(doubled, asked) * (1 + FAILURE_JITTER * random));
}
