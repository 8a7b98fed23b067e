import type { WalletAddress } from '../../protocol/payments/payment.ts';
import { isBatchService } from '../../protocol/payments/prices.ts';
import { termsFault, timeFault } from '../../protocol/payments/terms.ts';
import { ADDRESS_ALLOWANCE, WALLET_ALLOWANCE } from '../accounts/limits/allowances.ts';
import { addressKey } from '../accounts/limits/client-address.ts';
import { type Holder, HolderCounts } from '../accounts/limits/holder-counts.ts';
import { LimitError, rateHeaders, retryAfter } from '../accounts/limits/limit-error.ts';
import { MINUTE_MS, SlidingWindow, type WindowState } from '../accounts/limits/sliding-window.ts';
import type { OpenAuthorizations, Standing } from './open-authorizations.ts';
import type { Offer } from './paid-request.ts';
import { PaymentError } from './payment-error.ts';
import { keyText, type PaymentKey } from './payment-key.ts';
import type { PaymentStore } from './payment-store.ts';
import type { SettlementLedger } from './settlement-ledger.ts';
import type { Settler } from './settler.ts';

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
   * Lets a call be looked at that names a wallet, whoever shows it, unless too many that the wallet signed came to
   * nothing. Throws `LimitError`.
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

/** Counts the paid calls of each wallet from its signature to their answer. */
export class WalletCalls {
  readonly #wallets = new HolderCounts();
  readonly #most: number;

  constructor(most: number = WALLET_ALLOWANCE.callsUnderWay) {
    this.#most = most;
  }

  /**
   * For a wallet that has proven itself: a name alone must not fill its places. Holds until it is disposed, once.
   * Throws `PaymentError` `wallet-busy`.
   */
  enter(payer: string): Disposable {
    if (this.#wallets.of(payer) >= this.#most) throw new PaymentError('wallet-busy');
    return this.#wallets.add(payer);
  }
}

export interface AdmissionOptions {
  readonly paymentStore: Pick<PaymentStore, 'read' | 'openKeys'>;
  readonly settler: Settler;
  readonly ledger: Pick<SettlementLedger, 'summaryOf'>;
  readonly limits: Pick<PaymentLimits, 'admitName' | 'admitWallet'>;
  readonly calls: Pick<WalletCalls, 'enter'>;
  readonly open: OpenAuthorizations;
  readonly now: () => number;
}

/** A call whose payment was let in, until it is disposed. */
export interface AdmittedPayment extends Disposable {
  /**
   * Says how long the body is that records are to be prepared of, before they are. Throws `PaymentError` `wallet-busy`
   * where the wallet has as much open as it may.
   */
  prepare(bytes: number): void;
}

/** What a record prepared before this run may have had of its body. In bytes. */
const RESTORED_RECORD_BYTES = 8 << 10;
/** Open payments that are read at once. */
const RESTORED_TOGETHER = 256;

/**
 * What a payment must be before anything is done for it. First, at the least cost: made out to the terms, in time, and
 * signed by its payer, whose wallet then answers for the calls that it has under way. Later, once it is known what is
 * asked for: good for its price, beside all that the wallet has open here.
 */
export class PaymentAdmission {
  readonly #options: AdmissionOptions;

  private constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Enters what is open in the book. Costs what is open. */
  static async open(options: AdmissionOptions): Promise<PaymentAdmission> {
    const admission = new PaymentAdmission(options);
    await admission.#restore();
    return admission;
  }

  /**
   * Enters a call that shows a payment of which nothing is on the disk, until it is disposed. `isTwin`: the same
   * payment is under way, so it was looked at. A wallet that is held up is refused by its name, before its signature
   * costs anything; only what it signed itself can have brought it there. Throws `PaymentError` and `LimitError`.
   */
  async enter(key: PaymentKey, offer: Offer, isDuplicate: boolean): Promise<AdmittedPayment> {
    const { calls, limits, open } = this.#options;
    limits.admitName(key.payer);
    if (!isDuplicate) await this.#requireSignature(offer);
    const isNewcomer = await this.#isNewcomer(key);
    using entering = new DisposableStack();
    entering.use(calls.enter(key.payer));
    const { amount } = offer.terms;
    const isBatch = isBatchService(offer.service);
    const name = keyText(key);
    entering.use(open.enter({ payer: key.payer, name, amount, isBatch, isNewcomer }));
    if (!isDuplicate) limits.admitWallet(key.payer);
    const entered = entering.move();
    return {
      prepare: (bytes) => open.prepare(key.payer, name, bytes),
      [Symbol.dispose]: () => entered.dispose(),
    };
  }

  /**
   * Holds a call that works on a payment of which nothing is on the disk, until it is disposed. One that was let in
   * because something was is entered now. Throws what `enter` throws.
   */
  async hold(key: PaymentKey, offer: Offer): Promise<Disposable> {
    return this.#options.open.hold(key.payer, keyText(key)) ?? (await this.enter(key, offer, false));
  }

  /** Says of an authorization that was entered what the disk says. */
  note(key: PaymentKey, standing: Standing): void {
    this.#options.open.note(key.payer, keyText(key), standing);
  }

  /**
   * Why a payment that was entered, or is open, is not good for its price now; null where it is. Throws `PaymentError`
   * `unavailable`.
   */
  async whyNotGood(key: PaymentKey, offer: Offer): Promise<string | null> {
    const { settler, open } = this.#options;
    const fault = this.#faultOf(offer);
    if (fault !== null) return fault;
    if (!settler.isReady) throw new PaymentError('unavailable');
    const [said, isCovered] = await Promise.all([
      settler.verify(offer.payment, offer.terms),
      open.isCovered(key.payer, keyText(key), () => settler.balanceOf(key.payer)),
    ]);
    if (said.kind === 'invalid') return said.reason;
    if (said.kind === 'unavailable' || isCovered === null) throw new PaymentError('unavailable');
    return isCovered ? null : 'open_authorizations_exceed_balance';
  }

  async #requireSignature(offer: Offer): Promise<void> {
    const { settler } = this.#options;
    const fault = this.#faultOf(offer);
    if (fault !== null) throw new PaymentError('refused', fault);
    if (!settler.isReady) throw new PaymentError('unavailable');
    const said = await settler.checkSignature(offer.payment, offer.terms);
    if (said.kind === 'unavailable') throw new PaymentError('unavailable');
    if (said.kind === 'invalid') throw new PaymentError('refused', said.reason);
  }

  #faultOf({ payment, terms }: Offer): string | null {
    const seconds = Math.floor(this.#options.now() / 1_000);
    return termsFault(payment, terms) ?? timeFault(payment.authorization, seconds);
  }

  async #isNewcomer({ payer }: PaymentKey): Promise<boolean> {
    return (await this.#options.ledger.summaryOf(payer)) === undefined;
  }

  async #restore(): Promise<void> {
    const { paymentStore, open } = this.#options;
    let after: PaymentKey | undefined;
    for (;;) {
      const keys = await paymentStore.openKeys(after, RESTORED_TOGETHER);
      after = keys.at(-1);
      if (after === undefined) return;
      for (const key of keys) {
        // One that does not read is told of at every look after the payments.
        const row = await paymentStore.read(key).catch(() => undefined);
        if (row === undefined) continue;
        const { amount, service, drafts } = row;
        const isNewcomer = await this.#isNewcomer(key);
        const isBatch = isBatchService(service);
        open.restore(
          { payer: key.payer, name: keyText(key), amount, isBatch, isNewcomer },
          drafts * RESTORED_RECORD_BYTES,
        );
      }
    }
  }
}
