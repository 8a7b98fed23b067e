import { LRUCache } from 'lru-cache';
import type { Hash } from 'viem';
import type { PaymentRequirements } from '../../../protocol/payments/terms.ts';
import type {
  ChainOutcome,
  PaymentProcessor,
  SettleReply,
  SignedAuthorization,
  SoughtPayment,
  Verification,
} from '../processor.ts';
import type { ChainReader, Facilitator } from './contract.ts';
import { FacilitatorError } from './facilitator-error.ts';

export interface ProcessorParts {
  readonly facilitator: Facilitator;
  readonly chain: ChainReader;
  readonly isReady: () => boolean;
}

/** Settlements whose transaction is remembered until they are looked for. */
const MOST_REMEMBERED = 10_000;

/** Facilitator and chain, as the payment ledger asks them. */
export class FacilitatorProcessor implements PaymentProcessor {
  readonly #parts: ProcessorParts;
  /** Nonce → transaction that is said to have settled it: a chain need not be searched for what is known. */
  readonly #settled = new LRUCache<string, Hash>({ max: MOST_REMEMBERED });

  constructor(parts: ProcessorParts) {
    this.#parts = parts;
  }

  get isReady(): boolean {
    return this.#parts.isReady();
  }

  async verify(payment: SignedAuthorization, terms: PaymentRequirements): Promise<Verification> {
    try {
      await this.#parts.facilitator.verify(payment, terms);
      return { kind: 'valid' };
    } catch (error) {
      if (!(error instanceof FacilitatorError)) throw error;
      return error.code === 'refused' ? { kind: 'invalid', reason: error.reason } : { kind: 'unavailable' };
    }
  }

  async settle(payment: SignedAuthorization, terms: PaymentRequirements): Promise<SettleReply> {
    try {
      const { transaction } = await this.#parts.facilitator.settle(payment, terms);
      this.#remember(payment, transaction);
      return { kind: 'settled', transaction };
    } catch (error) {
      if (!(error instanceof FacilitatorError)) throw error;
      if (error.transaction !== null) this.#remember(payment, error.transaction);
      return replyOf(error);
    }
  }

  async outcomeOf(sought: SoughtPayment): Promise<ChainOutcome> {
    const { nonce } = sought.authorization;
    const outcome = await this.#parts.chain.paymentOf(sought, this.#settled.get(nonce));
    if (outcome.kind !== 'unknown') this.#settled.delete(nonce);
    return outcome;
  }

  #remember({ authorization: { nonce } }: SignedAuthorization, transaction: Hash): void {
    this.#settled.set(nonce, transaction);
  }
}

function replyOf({ code, reason }: FacilitatorError): SettleReply {
  switch (code) {
    case 'refused':
      return { kind: 'refused', reason };
    case 'unreachable':
      return { kind: 'unavailable' };
    case 'timeout':
    case 'unknown-outcome':
      return { kind: 'unclear' };
  }
}
