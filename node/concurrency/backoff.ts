/** Pause after the first failure and the longest one, in milliseconds. */
const MIN_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;

/**
 * Exponential back-off with full jitter over its upper half, in milliseconds: batches that failed together do not come
 * back together. `random` is in [0, 1).
 */
export function backoffDelay(failures: number, random: number): number {
  const pause = Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS * 2 ** Math.min(failures, 16));
  return pause / 2 + (random * pause) / 2;
}
