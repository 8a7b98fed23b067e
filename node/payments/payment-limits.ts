import type { WalletAddress } from '../../protocol/payments/payment.ts';
import { addressKey } from '../limits/client-address.ts';
import { rateHeaders, retryAfter } from '../limits/limit-headers.ts';
import { LimitError } from '../limits/limit-error.ts';
import { MINUTE_MS, SlidingWindow, type WindowState } from '../limits/sliding-window.ts';

/** Answers 402 that an address gets in any 60 seconds: those that name a price, and those that refuse a payment. */
export const CHALLENGES_PER_MINUTE = 60;
export const REFUSALS_PER_MINUTE = 60;
/** Calls that a wallet may pay for in any 60 seconds (DOMAIN §5). */
export const PAID_CALLS_PER_MINUTE = 600;

const MAX_ADDRESSES = 20_000;
const MAX_WALLETS = 20_000;

/** Bounds what callers of paid routes may ask, before and after they have paid. */
export class PaymentLimits {
  readonly #now: () => number;
  readonly #challenges = new SlidingWindow({ windowMs: MINUTE_MS, maxSubjects: MAX_ADDRESSES });
  readonly #refusals = new SlidingWindow({ windowMs: MINUTE_MS, maxSubjects: MAX_ADDRESSES });
  readonly #wallets = new SlidingWindow({ windowMs: MINUTE_MS, maxSubjects: MAX_WALLETS });

  /** `now` is a steady clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts a request without payment. Throws `LimitError`. */
  admitChallenge(address: string): void {
    const window = this.#challenges.take(addressKey(address), CHALLENGES_PER_MINUTE, this.#now());
    if (!window.allowed) throw limitError(`Prices are named ${window.limit} times a minute.`, window);
  }

  /** Lets a payment be looked at, unless too many of the address did not hold. Throws `LimitError`. */
  admitPayment(address: string): void {
    const window = this.#refusals.look(addressKey(address), REFUSALS_PER_MINUTE, this.#now());
    if (!window.allowed) throw limitError('Too many payments from this address did not hold.', window);
  }

  noteRefusal(address: string): void {
    this.#refusals.take(addressKey(address), REFUSALS_PER_MINUTE, this.#now());
  }

  /** Counts a call of a wallet that has proven itself. Throws `LimitError`. */
  admitWallet(payer: WalletAddress): void {
    const window = this.#wallets.take(payer, PAID_CALLS_PER_MINUTE, this.#now());
    if (!window.allowed) throw limitError(`A wallet may pay for ${window.limit} calls a minute.`, window);
  }
}

function limitError(message: string, window: WindowState): LimitError {
  return new LimitError('rate-limited', message, { ...rateHeaders(window), ...retryAfter(window.retryAfterSeconds) });
}
