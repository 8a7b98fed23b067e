import type { PaymentRequirements } from '../../protocol/payments/terms.ts';
import type { PaymentOutcome, SignedAuthorization, SoughtPayment } from './facilitator/contract.ts';
import type { StoredPayment, MadeWork, PaymentStore } from './payment-store.ts';
import { PaymentError } from './payment-error.ts';
import { isUncertain, type PaymentRow } from './payment-tables.ts';
import type { Settler } from './settler.ts';

export interface PaymentChargerOptions {
  readonly paymentStore: PaymentStore;
  readonly settler: Settler;
}

/** A payment as its payer has just shown it, and what it pays for. */
export interface ShownPayment {
  readonly signed: SignedAuthorization;
  readonly terms: PaymentRequirements;
}

/**
 * Charges, and writes down what came of it. Crash order: that a settlement was begun is on the disk before anyone is
 * asked for it; what came of it, only once the chain has said so. In between, a crash leaves the payment open. The
 * caller holds the payment's flight.
 */
export class PaymentCharger {
  readonly #paymentStore: PaymentStore;
  readonly #settler: Settler;

  constructor({ paymentStore, settler }: PaymentChargerOptions) {
    this.#paymentStore = paymentStore;
    this.#settler = settler;
  }

  /**
   * Charges a payment that was verified and whose work is done. Resolves to its settled row. Throws `PaymentError`
   * where it did not come to that, and `StoreError` where nothing was begun.
   */
  async charge(payment: StoredPayment, shown: ShownPayment, made: MadeWork): Promise<PaymentRow> {
    const row = await this.#paymentStore.begin(payment, made);
    return this.#settle({ key: payment.key, row }, shown, false);
  }

  /** The same for a payment that was refused before, and whose work is held. */
  async chargeHeld(payment: StoredPayment, shown: ShownPayment): Promise<PaymentRow> {
    const row = await this.#paymentStore.beginAgain(payment);
    return this.#settle({ key: payment.key, row }, shown, false);
  }

  /**
   * The same for a payment of whose settlement nobody knows: what the chain does not tell is tried again, where
   * `requireWanted` lets it. What that throws leaves the payment open.
   */
  async chargeAgain(payment: StoredPayment, shown: ShownPayment, requireWanted: () => void): Promise<PaymentRow> {
    const found = await this.#settler.look(soughtOf(payment));
    if (found.kind !== 'unknown') return this.#conclude(payment, found);
    requireWanted();
    return this.#settle(payment, shown, true);
  }

  /**
   * What the chain says of an open payment. Resolves to the row after it; undefined where it is over, and forgotten.
   * Throws `PaymentError`.
   */
  async lookUp(payment: StoredPayment): Promise<PaymentRow | undefined> {
    const found = await this.#settler.look(soughtOf(payment));
    const isNews = found.kind !== 'unknown' && (found.kind !== 'unpaid' || found.isOver || isUncertain(payment.row));
    return isNews ? this.#write(payment, found) : payment.row;
  }

  /** Whether the chain says now that a payment which was refused has paid nothing. Changes nothing. */
  async isUnpaid(payment: StoredPayment): Promise<boolean> {
    const { kind } = await this.#settler.seen(soughtOf(payment));
    return kind === 'unpaid' || kind === 'burnt';
  }

  async #settle(payment: StoredPayment, { signed, terms }: ShownPayment, isAgain: boolean): Promise<PaymentRow> {
    const { amount, since } = payment.row;
    return this.#conclude(payment, await this.#settler.settle(signed, { ...terms, amount }, { since, isAgain }));
  }

  async #conclude(payment: StoredPayment, outcome: PaymentOutcome): Promise<PaymentRow> {
    const row = await this.#write(payment, outcome);
    if (outcome.kind === 'paid' && row !== undefined) return row;
    throw refusalOf(outcome);
  }

  /** What cannot be written stays open: the chain will say the same again. */
  async #write(payment: StoredPayment, outcome: PaymentOutcome): Promise<PaymentRow | undefined> {
    try {
      switch (outcome.kind) {
        case 'paid':
          return await this.#paymentStore.settled(payment, outcome.transaction);
        case 'unpaid':
          if (!outcome.isOver) return await this.#paymentStore.unpaid(payment, outcome.reason);
          await this.#paymentStore.forget(payment);
          return undefined;
        case 'burnt':
          return await this.#paymentStore.burnt(payment, outcome.reason);
        case 'unknown':
          return await this.#paymentStore.unknown(payment);
      }
    } catch (error) {
      throw new PaymentError('outcome-unknown', 'not_written', error);
    }
  }
}

function refusalOf(outcome: PaymentOutcome): PaymentError {
  if (outcome.kind === 'unknown' || outcome.kind === 'paid') return new PaymentError('outcome-unknown');
  if (outcome.kind === 'unpaid' && outcome.isTemporary) return new PaymentError('unavailable', outcome.reason);
  return new PaymentError('settlement-failed', outcome.reason);
}

function soughtOf({ key, row }: StoredPayment): SoughtPayment {
  const { payTo: to, amount: value, validBefore, since } = row;
  return { authorization: { from: key.payer, to, value, nonce: key.nonce, validBefore }, since };
}
