import { LRUCache } from 'lru-cache';
import type { Hash } from 'viem';
import type { WalletAddress } from '../../../protocol/payments/payment.ts';
import type { PaymentRequirements } from '../../../protocol/payments/terms.ts';
import { type AtomicAmount, atomicAmount } from '../../../protocol/payments/usdc.ts';
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
import { isPlainSignature, isSignedByPayer } from './plain-signature.ts';

export interface ProcessorParts {
  readonly facilitator: Facilitator;
  readonly chain: ChainReader;
  readonly isReady: () => boolean;
}

/** Settlements whose transaction is remembered until they are looked for. */
const MOST_REMEMBERED = 10_000;
const BAD_SIGNATURE = 'invalid_exact_evm_signature';

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

  /** Of an ordinary wallet the signature tells by itself; of a contract only the contract does, on the chain. */
  async checkSignature(payment: SignedAuthorization, terms: PaymentRequirements): Promise<Verification> {
    if (isPlainSignature(payment)) {
      if (isSignedByPayer(payment)) return { kind: 'valid' };
      const isContract = await this.#parts.chain.isContract(payment.authorization.from).catch(() => null);
      if (isContract === null) return { kind: 'unavailable' };
      if (!isContract) return { kind: 'invalid', reason: BAD_SIGNATURE };
    }
    return this.verify(payment, terms);
  }

  async balanceOf(payer: WalletAddress): Promise<AtomicAmount | null> {
    const balance = await this.#parts.chain.usdcBalance(payer).catch(() => null);
    return balance === null ? null : atomicAmount(String(balance));
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
      return replyOf(error, this.#parts.facilitator.settlers !== null);
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

/** `isOwn`: this node itself sends its settlements, so it knows what it has not sent. */
function replyOf({ code, reason }: FacilitatorError, isOwn: boolean): SettleReply {
  switch (code) {
    case 'refused':
      return { kind: 'refused', reason, isCertain: isOwn };
    case 'unreachable':
      return { kind: 'unavailable' };
    case 'timeout':
    case 'unknown-outcome':
      return { kind: 'unclear' };
  }
}
