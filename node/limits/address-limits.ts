import { addressKey } from './client-address.ts';
import { rateHeaders, retryAfter } from './limit-headers.ts';
import { LimitError } from './limit-error.ts';
import { MINUTE_MS, SlidingWindow, type WindowState } from './sliding-window.ts';

/** Requests of one address to free endpoints, without an API key, in any 60 seconds (DOMAIN §5). */
const FREE_REQUESTS_PER_MINUTE = 120;
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
    this.#limit = options.requestsPerMinute ?? FREE_REQUESTS_PER_MINUTE;
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
    const window = this.#windows.take(addressKey(address), this.#limit, this.#now(), requests);
    if (window.allowed) return window;
    throw new LimitError('rate-limited', `Without an API key, ${window.limit} requests a minute are free.`, {
      ...rateHeaders(window),
      ...retryAfter(window.retryAfterSeconds),
    });
  }
}
