/** In milliseconds. */
export interface PauseLimits {
  /** Before the first doubling. */
  readonly firstMs: number;
  /** Never exceeded. */
  readonly mostMs: number;
}

const BACKOFF: PauseLimits = { firstMs: 250, mostMs: 5_000 };
/** Keeps the power finite however often something fails. */
const MAX_DOUBLINGS = 30;

/** Returns the first pause, doubled so many times, up to the longest one. In milliseconds. */
export function doubledPause(doublings: number, { firstMs, mostMs }: PauseLimits): number {
  return Math.min(mostMs, firstMs * 2 ** Math.min(Math.max(0, doublings), MAX_DOUBLINGS));
}

/**
 * Returns an exponential backoff with full jitter over its upper half, in milliseconds: callers that failed together do
 * not come back together. `random` is in [0, 1).
 */
export function backoffDelay(failures: number, random: number, limits: PauseLimits = BACKOFF): number {
  const pause = doubledPause(failures, limits);
  return pause / 2 + (random * pause) / 2;
}
