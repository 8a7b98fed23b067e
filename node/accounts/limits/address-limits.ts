import { LRUCache } from 'lru-cache';
import { ADDRESS_ALLOWANCE, TIER_LIMITS } from './allowances.ts';
import { addressKey } from './client-address.ts';
import { LimitError, rateHeaders, retryAfter } from './limit-error.ts';
import type { LimitedAccount } from './rate-limits.ts';
import { MOST_REQUESTS } from './route-weights.ts';
import { MINUTE_MS, SlidingWindow, type WindowState } from './sliding-window.ts';

export interface UncountedLimitsOptions {
  readonly uncountedPerSecond?: number;
  /** A steady clock in milliseconds. */
  readonly now?: () => number;
}

const SECOND_MS = 1_000;
/** How long an answer waits for its turn at most: so many connections of one subject are answered more often again. */
const LONGEST_WAIT_MS = 5_000;
/** Addresses, accounts and wallets whose answers are kept apart. */
const MAX_SUBJECTS = 20_000;

/**
 * Spaces the answers that no other limit counts: refusals, what does not exist, the health. Of each subject those of
 * one second are sent at once, later ones one after another at the same rate (the generic cell rate algorithm).
 */
export class UncountedLimits {
  readonly #now: () => number;
  readonly #spacingMs: number;
  /** When the last answer of a subject would be sent if none were sent at once. */
  readonly #sent = new LRUCache<string, number>({ max: MAX_SUBJECTS });

  constructor(options: UncountedLimitsOptions = {}) {
    this.#now = options.now ?? (() => performance.now());
    this.#spacingMs = SECOND_MS / (options.uncountedPerSecond ?? ADDRESS_ALLOWANCE.uncountedAnswersPerSecond);
  }

  /** Counts an answer; how long it is to wait before it is sent. In milliseconds. */
  take(subject: string): number {
    const now = this.#now();
    const after = Math.max(this.#sent.get(subject) ?? Number.NEGATIVE_INFINITY, now - SECOND_MS);
    const sent = Math.min(after + this.#spacingMs, now + LONGEST_WAIT_MS);
    this.#sent.set(subject, sent);
    return Math.max(0, sent - now);
  }
}

/** Accounts whose last minute is kept apart. */
const MAX_ACCOUNTS = 100_000;

/**
 * Bounds what accounts may ask of free endpoints, beside what their tier may of the others: their key lifts the limit
 * of its address, not every limit. It is enough for as many requests as the tier has a minute (api-rules §8), were all
 * of them to the heaviest endpoint. An unmetered account has no bound.
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

/** Addresses whose last minute is kept apart: some 20 MB where each makes all the requests it may. */
const MAX_ADDRESSES = 20_000;

export interface AddressLimitsOptions {
  /** A steady clock in milliseconds. */
  readonly now?: () => number;
  readonly requestsPerMinute?: number;
  readonly maxAddresses?: number;
}

/** Bounds what callers without an account may ask, by where they come from. */
export class AddressLimits {
  readonly #now: () => number;
  readonly #limit: number;
  readonly #windows: SlidingWindow;

  constructor(options: AddressLimitsOptions = {}) {
    this.#now = options.now ?? (() => performance.now());
    this.#limit = options.requestsPerMinute ?? ADDRESS_ALLOWANCE.freeRequestsPerMinute;
    this.#windows = new SlidingWindow({
      windowMs: MINUTE_MS,
      maxSubjects: options.maxAddresses ?? MAX_ADDRESSES,
    });
  }

  /** Addresses known at present. */
  get addresses(): number {
    return this.#windows.subjects;
  }

  /** Counts a request of an address, as `clientAddress` gives it, for as many as it weighs. Throws `LimitError`. */
  admit(address: string, requests = 1): WindowState {
    const id = addressKey(address);
    const window = this.#windows.take(id, this.#limit, this.#now(), requests);
    if (window.allowed) return window;
    const headers = { ...rateHeaders(window), ...retryAfter(window.retryAfterSeconds) };
    const message = `Without an API key, ${window.limit} requests a minute are free.`;
    throw new LimitError('rate-limited', message, headers, { kind: 'address', id });
  }
}
