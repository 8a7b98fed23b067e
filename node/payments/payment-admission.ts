import { isBatchService } from '../../protocol/payments/prices.ts';
import { termsFault, timeFault } from '../../protocol/payments/terms.ts';
import type { WalletCalls } from './wallet-calls.ts';
import type { OpenAuthorizations, Standing } from './open-authorizations.ts';
import type { Offer } from './paid-request.ts';
import type { PaymentStore } from './payment-store.ts';
import { PaymentError } from './payment-error.ts';
import { type PaymentKey, keyText } from './payment-key.ts';
import type { PaymentLimits } from './payment-limits.ts';
import type { SettlementLedger } from './settlement-ledger.ts';
import type { Settler } from './settler.ts';

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
   * Says how long the body is that records are to be prepared of, before they are. Throws `PaymentError` `wallet-busy` where
   * the wallet has as much open as it may.
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
   * Enters a call that shows a payment of which nothing is on the disk, until it is disposed. `isTwin`: the same payment is
   * under way, so it was looked at. A wallet that is held up is refused by its name, before its signature costs anything;
   * only what it signed itself can have brought it there. Throws `PaymentError` and `LimitError`.
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
