import { ADDRESS_ALLOWANCE } from './allowances.ts';
import { addressKey } from './client-address.ts';
import { MINUTE_MS, SlidingWindow } from './sliding-window.ts';

export interface UncountedLimitsOptions {
  readonly uncountedPerMinute?: number;
  /** A steady clock in milliseconds. */
  readonly now?: () => number;
}

/** Addresses whose last minute is kept apart. */
const MAX_ADDRESSES = 20_000;

/** Counts, by address, the answers that no other limit counts: refusals, what does not exist, the health. */
export class UncountedLimits {
  readonly #now: () => number;
  readonly #perMinute: number;
  readonly #windows = new SlidingWindow({ windowMs: MINUTE_MS, maxSubjects: MAX_ADDRESSES });

  constructor(options: UncountedLimitsOptions = {}) {
    this.#now = options.now ?? (() => performance.now());
    this.#perMinute = options.uncountedPerMinute ?? ADDRESS_ALLOWANCE.uncountedAnswersPerMinute;
  }

  /** Counts an answer to an address, as `clientAddress` gives it; whether it is within what is sent at once. */
  take(address: string): boolean {
    return this.#windows.take(addressKey(address), this.#perMinute, this.#now()).allowed;
  }
}
