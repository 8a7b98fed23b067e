import type { Logger } from 'pino';
import type { Store } from '../store/store.ts';
import { PeriodicTask } from '../concurrency/periodic-task.ts';
import type { PaymentStore } from './payment-store.ts';
import { PaymentError } from './payment-error.ts';
import { type PaymentKey, readKeyParts } from './payment-key.ts';
import { paymentEndTable } from './payment-tables.ts';
import type { Payments } from './payments.ts';

export interface PaymentUpkeepOptions {
  readonly store: Store;
  readonly paymentStore: Pick<PaymentStore, 'openKeys' | 'unpublishedKeys'>;
  readonly payments: Pick<Payments, 'reconcile' | 'end'>;
  readonly now: () => number;
  /** Whether the clock is known to be right: nothing ends by another. */
  readonly isClockRight: () => boolean;
  readonly log: Logger;
}

/** Pause between two looks. In milliseconds. */
const LOOK_MS = 15_000;
/** Open payments that are looked after side by side. */
const RECONCILED_TOGETHER = 8;
/** Ends that are read at once. */
const ENDED_TOGETHER = 256;

/**
 * What becomes of payments that nobody asks for: open ones, those that a crash left first of all, are found out on the
 * chain; records of settled ones are made; and what is held is let go of when its time is up. Costs what is open or
 * due, however long the history.
 */
export class PaymentUpkeep implements AsyncDisposable {
  readonly #options: PaymentUpkeepOptions;
  readonly #task = new PeriodicTask(LOOK_MS, () => this.#look());

  constructor(options: PaymentUpkeepOptions) {
    this.#options = options;
  }

  start(): void {
    this.#task.start();
  }

  /** Looks after all that is open or due now. Never rejects. */
  look(): Promise<void> {
    return this.#task.now();
  }

  /** Waits for what is under way. The rest is done after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#task[Symbol.asyncDispose]();
  }

  async #look(): Promise<void> {
    const { log, paymentStore } = this.#options;
    try {
      await this.#reconcileAll((after) => paymentStore.unpublishedKeys(after, RECONCILED_TOGETHER));
      await this.#reconcileAll((after) => paymentStore.openKeys(after, RECONCILED_TOGETHER));
      await this.#endDue();
    } catch (error) {
      log.error({ err: error }, 'payments could not be looked after; trying again');
    }
  }

  async #reconcileAll(next: (after: PaymentKey | undefined) => Promise<readonly PaymentKey[]>): Promise<void> {
    let after: PaymentKey | undefined;
    while (!this.#task.signal.aborted) {
      const keys = await next(after);
      after = keys.at(-1);
      if (after === undefined) return;
      await Promise.all(keys.map((key) => this.#reconcile(key)));
    }
  }

  async #reconcile(key: PaymentKey): Promise<void> {
    await this.#attempt(key, () => this.#options.payments.reconcile(key));
  }

  /** Whether it went well. One payment that cannot be looked after holds up no other. */
  async #attempt({ payer, nonce }: PaymentKey, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      const err = error instanceof PaymentError ? (error.cause ?? error) : error;
      this.#options.log.warn({ err, payer, nonce }, 'a payment could not be brought to its end; trying again');
      return false;
    }
  }

  async #endDue(): Promise<void> {
    const { store, now, isClockRight, payments } = this.#options;
    const at = now();
    if (!isClockRight()) return;
    while (!this.#task.signal.aborted) {
      const due: string[][] = [];
      for await (const [parts] of paymentEndTable.under(store, [], { limit: ENDED_TOGETHER })) {
        if (Number(parts[0]) > at) break;
        due.push(parts);
      }
      if (due.length === 0) return;
      let isWhole = true;
      for (const [end = '', ...parts] of due) {
        const key = readKeyParts(parts);
        if (key === undefined) await store.write([paymentEndTable.del(end, ...parts)]);
        else isWhole = (await this.#attempt(key, () => payments.end(key, Number(end)))) && isWhole;
      }
      if (!isWhole) return;
    }
  }
}
