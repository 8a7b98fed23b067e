import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Hash } from 'viem';
import { TRANSACTION_PATTERN } from '../../protocol/payments/settlement.ts';
import type { PaymentRequirements } from '../../protocol/payments/terms.ts';
import type { ChainReader, Facilitator } from './facilitator/contract.ts';
import { FacilitatorError } from './facilitator/facilitator-error.ts';
import type {
  ChainOutcome,
  PaymentProcessor,
  SettleReply,
  SignedAuthorization,
  SoughtPayment,
  Verification,
} from './processor.ts';

export interface FacilitatedProcessorOptions {
  readonly facilitator: Facilitator;
  readonly chain: Pick<ChainReader, 'paymentOf'>;
  readonly log: Logger;
}

/** Pauses between two probes of a facilitator: of one that is out of order, and of one that was in order. In milliseconds. */
const PROBE_AGAIN_MS = 2_000;
const PROBE_MS = 30_000;
const TRANSACTION = new RegExp(TRANSACTION_PATTERN);

/**
 * A facilitator and a reader of the chain as the ledger needs them. Payments are taken while the last probe went well; a
 * facilitator that is down when the node starts is asked again and again.
 */
export class FacilitatedProcessor implements PaymentProcessor, AsyncDisposable {
  readonly #options: FacilitatedProcessorOptions;
  readonly #ending = new AbortController();
  #isReady = false;
  /** Whether a fault was told already. */
  #isTold = false;
  #loop: Promise<void> | undefined;

  constructor(options: FacilitatedProcessorOptions) {
    this.#options = options;
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Probes from now on. Resolves after the first probe, however it went. */
  async start(): Promise<void> {
    await this.#probe();
    this.#loop ??= this.#run();
  }

  async verify(payment: SignedAuthorization, terms: PaymentRequirements): Promise<Verification> {
    try {
      await this.#options.facilitator.verify(payment, terms);
      return { kind: 'valid' };
    } catch (error) {
      if (!(error instanceof FacilitatorError)) throw error;
      return error.code === 'refused' ? { kind: 'invalid', reason: error.reason } : { kind: 'unavailable' };
    }
  }

  async settle(payment: SignedAuthorization, terms: PaymentRequirements): Promise<SettleReply> {
    try {
      const { transaction } = await this.#options.facilitator.settle(payment, terms);
      return { kind: 'settled', transaction };
    } catch (error) {
      if (!(error instanceof FacilitatorError)) throw error;
      if (error.code === 'refused') return { kind: 'refused', reason: error.reason };
      return { kind: error.code === 'unreachable' ? 'unavailable' : 'unclear' };
    }
  }

  outcomeOf(sought: SoughtPayment, hint?: string): Promise<ChainOutcome> {
    const { chain } = this.#options;
    return isHash(hint) ? chain.paymentOf(sought, hint) : chain.paymentOf(sought);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#loop;
    await this.#options.facilitator[Symbol.asyncDispose]();
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      await sleep(this.#isReady ? PROBE_MS : PROBE_AGAIN_MS, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await this.#probe();
    }
  }

  async #probe(): Promise<void> {
    const { facilitator, log } = this.#options;
    try {
      await facilitator.probe();
      if (!this.#isReady) log.info('payments are taken');
      this.#isReady = true;
      this.#isTold = false;
    } catch (error) {
      if (!this.#isTold) log.warn({ err: error }, 'payments cannot be taken; trying again');
      this.#isReady = false;
      this.#isTold = true;
    }
  }
}

function isHash(text: string | undefined): text is Hash {
  return text !== undefined && TRANSACTION.test(text);
}
