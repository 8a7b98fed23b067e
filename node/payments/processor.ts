import type { PaymentAuthorization, WalletAddress } from '../../protocol/payments/payment.ts';
import type { JsonObject } from '../../protocol/json/value.ts';
import type { PaymentRequirements } from '../../protocol/payments/terms.ts';
import type { AtomicAmount } from '../../protocol/payments/usdc.ts';

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

/** A facilitator's word on an authorization that is not settled yet. */
export type Verification =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly reason: string }
  /** It did not say. */
  | { readonly kind: 'unavailable' };

/** A facilitator's word on a settlement. The last word is the chain's. */
export type SettleReply =
  | { readonly kind: 'settled'; readonly transaction: string }
  /** It says that it sent nothing, and will not. `isCertain`: it is this node's own, so nobody needs to believe it. */
  | { readonly kind: 'refused'; readonly reason: string; readonly isCertain: boolean }
  /** It says that it sent nothing, and might another time. */
  | { readonly kind: 'unavailable' }
  /** No reply, or one that leaves it open. */
  | { readonly kind: 'unclear' };

/** What is looked for on the chain. */
export interface SoughtPayment {
  readonly authorization: Pick<PaymentAuthorization, 'from' | 'to' | 'value' | 'nonce' | 'validBefore'>;
  /** When this node first saw it, in epoch milliseconds: it was not settled for this node before. */
  readonly since: number;
}

/** What the chain says of an authorization. */
export type ChainOutcome =
  /** The value went from payer to payee by it, and this node's facilitator had it done. */
  | { readonly kind: 'paid'; readonly transaction: string }
  /** It is used up, and this node was not paid by it. */
  | { readonly kind: 'burnt' }
  /** It is not used. Once expired, it can never be. */
  | { readonly kind: 'unused'; readonly expired: boolean }
  /** The chain could not be read. */
  | { readonly kind: 'unknown' };

/** Facilitator and chain, as the ledger needs them. May throw, or never resolve: the settler takes both for silence. */
export interface PaymentProcessor {
  /** Whether payments can be taken at present. */
  readonly isReady: boolean;
  /** Whether the payer has signed it, at the least cost: whatever the wallet holds, and whatever became of it. */
  checkSignature(payment: SignedAuthorization, terms: PaymentRequirements): Promise<Verification>;
  verify(payment: SignedAuthorization, terms: PaymentRequirements): Promise<Verification>;
  /** What a wallet has of the asset; null where the chain could not be read. */
  balanceOf(payer: WalletAddress): Promise<AtomicAmount | null>;
  settle(payment: SignedAuthorization, terms: PaymentRequirements): Promise<SettleReply>;
  outcomeOf(sought: SoughtPayment): Promise<ChainOutcome>;
}
