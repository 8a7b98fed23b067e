import type { Hash } from 'viem';
import type { JsonObject } from '../../../protocol/json/value.ts';
import type { PaymentAuthorization, WalletAddress } from '../../../protocol/payments/payment.ts';
import type { PaymentRequirements } from '../../../protocol/payments/terms.ts';

/** An authorization that anyone who holds it can have settled. */
export interface SignedAuthorization {
  readonly authorization: PaymentAuthorization;
  readonly signature: string;
  /** The seller's own word on what is paid for, never the payer's: a facilitator may list it in its catalogue. */
  readonly listing?: Listing;
}

/** The members `resource` and `extensions` of a 402 answer. */
export interface Listing {
  readonly resource: { readonly url: string; readonly description: string; readonly mimeType: string };
  readonly extensions: JsonObject;
}

/** What is looked for on the chain. */
export interface SoughtPayment {
  readonly authorization: Pick<PaymentAuthorization, 'from' | 'to' | 'value' | 'nonce' | 'validBefore'>;
  /** When this node first saw it, by its own clock, in epoch milliseconds: it was not settled for this node before. */
  readonly since: number;
}

/** `refused`: the chain's node answered that it will not. `unreachable`: it did not answer. */
type ChainErrorCode = 'unreachable' | 'refused';

/**
 * Why the chain could not be read. Holds no cause and no text of the client: both name the URL of the chain's node, and
 * providers put keys into those.
 */
export class ChainError extends Error {
  override readonly name = 'ChainError';
  readonly code: ChainErrorCode;

  constructor(code: ChainErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** A charge that is on the chain. */
export interface Settled {
  readonly transaction: Hash;
}

/**
 * Checks payments and carries them out. Every failure is a `FacilitatorError`.
 *
 * `verify` throws `refused`, `unreachable` or `timeout` and changes nothing. `settle` throws `refused` (this attempt
 * moves nothing, now or later), `unreachable` (the same, and it may work another time) or `unknown-outcome`: then only
 * the chain tells, see `ChainReader.paymentOf`. What an earlier attempt did, a later one's refusal does not tell.
 */
export interface Facilitator extends AsyncDisposable {
  verify(payment: SignedAuthorization, terms: PaymentRequirements): Promise<void>;
  settle(payment: SignedAuthorization, terms: PaymentRequirements): Promise<Settled>;
  /** Resolves where payments can be taken now; throws with the reason where not. */
  probe(): Promise<void>;
  /** Accounts that send its transactions; null where it does not matter who does. */
  readonly settlers: readonly WalletAddress[] | null;
}

/** What became of an authorization. */
export type PaymentOutcome =
  /** The payee has the money, and our facilitator brought it. */
  | { readonly kind: 'paid'; readonly transaction: string }
  | Unpaid
  /** Used up without paying us: cancelled, paid to another, or carried out by and for another service of the payee. */
  | { readonly kind: 'burnt'; readonly reason: string }
  /** The chain could not be read, or does not say; or a settlement may be under way. */
  | { readonly kind: 'unknown' };

/**
 * Not used. `isTemporary`: a settlement that came to nothing may work in a moment; `isOver`: nothing of it can move any
 * more, unless it is begun again.
 */
export interface Unpaid {
  readonly kind: 'unpaid';
  readonly reason: string;
  readonly isTemporary: boolean;
  readonly isOver: boolean;
}

export function unpaid(reason: string, { isTemporary = false, isOver = false } = {}): Unpaid {
  return { kind: 'unpaid', reason, isTemporary, isOver };
}

export interface ChainBlock {
  readonly number: bigint;
  readonly hash: Hash;
  /** In epoch seconds. */
  readonly timestamp: number;
}

/** An account as one block shows it. */
export interface ChainAccount {
  readonly block: ChainBlock;
  readonly transactionCount: number;
  /** In wei. */
  readonly nativeBalance: bigint;
  /** In atomic units of USDC. */
  readonly usdcBalance: bigint;
  readonly isContract: boolean;
}

/** Reads the chain that payments are on. Throws `ChainError` where it cannot. */
export interface ChainReader {
  latestBlock(): Promise<ChainBlock>;
  account(address: WalletAddress): Promise<ChainAccount>;
  /** What an account has, in atomic units of USDC. */
  usdcBalance(address: WalletAddress): Promise<bigint>;
  /** Whether there is code at an address, which then says itself what it has signed. */
  isContract(address: WalletAddress): Promise<boolean>;
  /**
   * First block by which an account that has a transaction count above zero had one: that of its first own transaction,
   * or of its creation where it is a contract. Needs a node that keeps all of the chain's states; others refuse.
   */
  firstTransaction(address: WalletAddress, head: ChainBlock, signal: AbortSignal): Promise<ChainBlock>;
  /**
   * What became of an authorization, as the chain shows it: what is not used and not over is `unpaid` also where a
   * settlement is under way. A transaction that is said to have carried it out is looked at first. Never
   * throws: what cannot be read is `unknown`.
   */
  paymentOf(sought: SoughtPayment, hint?: Hash): Promise<PaymentOutcome>;
}

/** Facilitator and chain, as payments are settled by them. */
export interface SettlementMeans {
  /** Whether payments can be taken at present. */
  readonly isReady: boolean;
  readonly facilitator: Pick<Facilitator, 'settle' | 'settlers' | 'verify'>;
  readonly chain: Pick<ChainReader, 'paymentOf' | 'usdcBalance'>;
  /**
   * Whether the payer has signed it, at the least cost: whatever the wallet holds, and whatever became of it. Throws
   * `FacilitatorError` as `Facilitator.verify` does.
   */
  checkSignature(payment: SignedAuthorization, terms: PaymentRequirements): Promise<void>;
}
