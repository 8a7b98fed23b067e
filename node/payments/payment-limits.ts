import type { WalletAddress } from '../../protocol/payments/payment.ts';
import { ADDRESS_ALLOWANCE, WALLET_ALLOWANCE } from '../accounts/limits/allowances.ts';
import { addressKey } from '../accounts/limits/client-address.ts';
import type { Holder } from '../accounts/limits/holder.ts';
import { rateHeaders, retryAfter } from '../accounts/limits/limit-headers.ts';
import { LimitError } from '../accounts/limits/limit-error.ts';
import { MINUTE_MS, SlidingWindow, type WindowState } from '../accounts/limits/sliding-window.ts';

const MAX_ADDRESSES = 20_000;
const MAX_WALLETS = 20_000;

/** Bounds what callers of paid routes may ask, before and after they have paid. */
export class PaymentLimits {
  readonly #now: () => number;
  readonly #challenges = new SlidingWindow({ windowMs: MINUTE_MS, maxSubjects: MAX_ADDRESSES });
  readonly #refusals = new SlidingWindow({ windowMs: MINUTE_MS, maxSubjects: MAX_ADDRESSES });
  readonly #wallets = new SlidingWindow({ windowMs: MINUTE_MS, maxSubjects: MAX_WALLETS });
  readonly #unpaid = new SlidingWindow({ windowMs: MINUTE_MS, maxSubjects: MAX_WALLETS });

  /** `now` is a steady clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts a request without payment. Throws `LimitError`. */
  admitChallenge(address: string): void {
    const id = addressKey(address);
    const window = this.#challenges.take(id, ADDRESS_ALLOWANCE.pricesPerMinute, this.#now());
    if (window.allowed) return;
    throw limitError(`Prices are named ${window.limit} times a minute.`, window, { kind: 'address', id });
  }

  /** Lets a payment be looked at, unless too many of the address did not hold. Throws `LimitError`. */
  admitPayment(address: string): void {
    const id = addressKey(address);
    const window = this.#refusals.look(id, ADDRESS_ALLOWANCE.refusedPaymentsPerMinute, this.#now());
    if (window.allowed) return;
    throw limitError('Too many payments from this address did not hold.', window, { kind: 'address', id });
  }

  noteRefusal(address: string): void {
    this.#refusals.take(addressKey(address), ADDRESS_ALLOWANCE.refusedPaymentsPerMinute, this.#now());
  }

  /**
   * Lets a call be looked at that names a wallet, whoever shows it, unless too many that the wallet signed came to nothing.
   * Throws `LimitError`.
   */
  admitName(payer: WalletAddress): void {
    const window = this.#unpaid.look(payer, WALLET_ALLOWANCE.unpaidCallsPerMinute, this.#now());
    if (!window.allowed) throw limitError('Too many calls of the wallet came to nothing.', window, walletHolder(payer));
  }

  /** Counts a call of a wallet that has proven itself. Throws `LimitError`. */
  admitWallet(payer: WalletAddress): void {
    const window = this.#wallets.take(payer, WALLET_ALLOWANCE.paidCallsPerMinute, this.#now());
    if (window.allowed) return;
    throw limitError(`A wallet may pay for ${window.limit} calls a minute.`, window, walletHolder(payer));
  }

  /** Counts a call that a wallet signed for and does not pay for, as many times as it weighs. */
  noteUnpaid(payer: string, requests: number): void {
    const limit = WALLET_ALLOWANCE.unpaidCallsPerMinute;
    const { remaining } = this.#unpaid.look(payer, limit, this.#now());
    this.#unpaid.take(payer, limit, this.#now(), Math.min(requests, remaining));
  }
}

function walletHolder(payer: WalletAddress): Holder {
  return { kind: 'wallet', id: payer };
}

function limitError(message: string, window: WindowState, holder: Holder): LimitError {
  const headers = { ...rateHeaders(window), ...retryAfter(window.retryAfterSeconds) };
  return new LimitError('rate-limited', message, headers, holder);
}
