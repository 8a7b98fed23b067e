import { ADDRESS_ALLOWANCE } from './allowances.ts';
import { addressKey } from './client-address.ts';
import { SlidingWindow } from './sliding-window.ts';

export interface UncountedLimitsOptions {
  readonly uncountedPerSecond?: number;
  /** A steady clock in milliseconds. */
  readonly now?: () => number;
}

const SECOND_MS = 1_000;
/** Addresses whose last second is kept apart. */
const MAX_ADDRESSES = 20_000;

/** Counts, by address, the answers that no other limit counts: refusals, what does not exist, the health. */
export class UncountedLimits {
  readonly #now: () => number;
  readonly #perSecond: number;
  readonly #windows = new SlidingWindow({ windowMs: SECOND_MS, maxSubjects: MAX_ADDRESSES });

  constructor(options: UncountedLimitsOptions = {}) {
    this.#now = options.now ?? (() => performance.now());
    this.#perSecond = options.uncountedPerSecond ?? ADDRESS_ALLOWANCE.uncountedAnswersPerSecond;
  }

  /** Counts an answer to an address, as `clientAddress` gives it; whether it is within what is sent at once. */
  take(address: string): boolean {
    return this.#windows.take(addressKey(address), this.#perSecond, this.#now()).allowed;
  }
}
