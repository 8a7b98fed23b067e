import { ADDRESS_ALLOWANCE } from './allowances.ts';
import { addressKey } from './client-address.ts';
import { rateHeaders, retryAfter } from './limit-headers.ts';
import { LimitError } from './limit-error.ts';
import { MINUTE_MS, SlidingWindow, type WindowState } from './sliding-window.ts';

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
