import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import type { Address, Hash, Hex } from 'viem';

/** What a facilitator found a payment to be good for. */
export interface Verified {
  readonly payer: Address;
}

/** A charge that is on the chain. */
export interface Settled {
  readonly payer: Address;
  readonly transaction: Hash;
}

/**
 * Checks payments and carries them out. Every failure is a `FacilitatorError`.
 *
 * `verify` throws `refused`, `unreachable` or `timeout` and changes nothing. `settle` throws `refused` (nothing was sent
 * to the chain), `unreachable` (the same, and it may work later) or `unknown-outcome` (ask `ChainReader.paymentOf`).
 */
export interface Facilitator extends AsyncDisposable {
  verify(payment: PaymentPayload, requirements: PaymentRequirements): Promise<Verified>;
  settle(payment: PaymentPayload, requirements: PaymentRequirements): Promise<Settled>;
  /** Resolves where it can take payments now; throws `unreachable`, `timeout` or `refused` with the reason where not. */
  supported(): Promise<void>;
  /** Accounts that send its transactions; null where it does not matter who does. */
  readonly settlers: readonly Address[] | null;
}

/** A transfer that a payer signed, as it may show on the chain. */
export interface Authorization {
  readonly payer: Address;
  readonly nonce: Hex;
  readonly payTo: Address;
  /** In atomic units of USDC. */
  readonly value: bigint;
  /** End of its validity, in epoch seconds. */
  readonly validBefore: bigint;
  /** When this node first saw it, in epoch milliseconds: it cannot have been settled for us before. */
  readonly since: number;
}

/** What the chain tells of an authorization. */
export type PaymentOutcome =
  /** The payee has the money, sent by our facilitator. */
  | { readonly state: 'paid'; readonly transaction: Hash; readonly blockNumber: bigint }
  /** Used up without paying us: cancelled, paid to another, or carried out for another service of the same payee. */
  | { readonly state: 'burnt'; readonly transaction: Hash | null }
  /** Not used. Once `expired`, it can never be. */
  | { readonly state: 'unused'; readonly expired: boolean }
  /** The chain could not be read, or does not say. */
  | { readonly state: 'unknown'; readonly reason: string };

export interface ChainBlock {
  readonly number: bigint;
  readonly hash: Hash;
  /** In epoch seconds. */
  readonly timestamp: bigint;
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
  account(address: Address): Promise<ChainAccount>;
  /** Never throws: what cannot be read is `unknown`. */
  paymentOf(authorization: Authorization): Promise<PaymentOutcome>;
}
