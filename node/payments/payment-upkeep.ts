import type { Logger } from 'pino';
import type { Store } from '../store/store.ts';
import { Rounds } from '../rounds.ts';
import type { PaymentBook } from './payment-book.ts';
import { PaymentError } from './payment-error.ts';
import type { PaymentKey } from './payment-key.ts';
import { paymentAnswerTable, paymentEndTable, paymentWorkTable } from './payment-tables.ts';
import type { Payments } from './payments.ts';

export interface PaymentUpkeepOptions {
  readonly store: Store;
  readonly book: Pick<PaymentBook, 'openKeys'>;
  readonly payments: Pick<Payments, 'reconcile'>;
  readonly now: () => number;
  readonly log: Logger;
}

/** Pause between two looks. In milliseconds. */
const LOOK_MS = 15_000;
/** Open settlements that the chain is asked for side by side. */
const RECONCILED_TOGETHER = 8;
/** Ends of one write. */
const ENDED_TOGETHER = 256;

/**
 * What becomes of payments that nobody asks for: open settlements, those that a crash left first of all, are found out on
 * the chain, and answers are let go of when their time is up. Costs what is open or due, however long the history.
 */
export class PaymentUpkeep implements AsyncDisposable {
  readonly #options: PaymentUpkeepOptions;
  readonly #rounds = new Rounds(LOOK_MS, () => this.#look());

  constructor(options: PaymentUpkeepOptions) {
    this.#options = options;
  }

  start(): void {
    this.#rounds.start();
  }

  /** Looks after all that is open or due now. Never rejects. */
  look(): Promise<void> {
    return this.#rounds.now();
  }

  /** Waits for what is under way. The rest is done after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#rounds[Symbol.asyncDispose]();
  }

  async #look(): Promise<void> {
    const { log } = this.#options;
    try {
      await this.#reconcileOpen();
      await this.#endDue();
    } catch (error) {
      log.error({ err: error }, 'payments could not be looked after; trying again');
    }
  }

  async #reconcileOpen(): Promise<void> {
    let after: PaymentKey | undefined;
    while (!this.#rounds.signal.aborted) {
      const keys = await this.#options.book.openKeys(after, RECONCILED_TOGETHER);
      after = keys.at(-1);
      if (after === undefined) return;
      await Promise.all(keys.map((key) => this.#reconcile(key)));
    }
  }

  async #reconcile(key: PaymentKey): Promise<void> {
    try {
      await this.#options.payments.reconcile(key);
    } catch (error) {
      if (!(error instanceof PaymentError)) throw error;
      this.#options.log.warn({ err: error.cause ?? error, payer: key.payer }, 'a settlement could not be written down');
    }
  }

  /** The payments stay: what is let go of is what was held for them. */
  async #endDue(): Promise<void> {
    const { store, now } = this.#options;
    const at = now();
    while (!this.#rounds.signal.aborted) {
      const due: string[][] = [];
      for await (const [parts] of paymentEndTable.under(store, [], { limit: ENDED_TOGETHER })) {
        if (Number(parts[0]) > at) break;
        due.push(parts);
      }
      if (due.length === 0) return;
      await store.write(
        due.flatMap(([end = '', ...key]) => [
          paymentEndTable.del(end, ...key),
          paymentAnswerTable.del(...key),
          paymentWorkTable.del(...key),
        ]),
      );
    }
  }
}
