import { ADDRESS_ALLOWANCE, TIER_LIMITS } from './allowances.ts';
import { rateHeaders, retryAfter } from './limit-headers.ts';
import { LimitError } from './limit-error.ts';
import type { LimitedAccount } from './rate-limits.ts';
import { MOST_REQUESTS } from './route-weights.ts';
import { MINUTE_MS, SlidingWindow } from './sliding-window.ts';

/** Accounts whose last minute is kept apart. */
const MAX_ACCOUNTS = 100_000;

/**
 * Bounds what accounts may ask of free endpoints, beside what their tier may of the others: their key lifts the limit of
 * its address, not every limit. It is enough for as many requests as the tier has a minute (SPEC §8), were all of them to
 * the heaviest endpoint. An unmetered account has no bound.
 */
export class FreeLimits {
  readonly #now: () => number;
  readonly #windows = new SlidingWindow({ windowMs: MINUTE_MS, maxSubjects: MAX_ACCOUNTS });

  /** `now` is a steady clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts a request of an account, for as many as it weighs. Throws `LimitError`. */
  admit({ id, tier }: LimitedAccount, requests: number): void {
    const { requestsPerMinute } = TIER_LIMITS[tier];
    if (requestsPerMinute === null) return;
    const limit = Math.max(MOST_REQUESTS * requestsPerMinute, ADDRESS_ALLOWANCE.freeRequestsPerMinute);
    const window = this.#windows.take(id, limit, this.#now(), requests);
    if (window.allowed) return;
    const headers = { ...rateHeaders(window), ...retryAfter(window.retryAfterSeconds) };
    const message = `The account may ask ${window.limit} free requests a minute.`;
    throw new LimitError('rate-limited', message, headers, { kind: 'account', id });
  }
}
