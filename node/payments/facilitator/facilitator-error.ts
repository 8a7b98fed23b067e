import type { Hash } from 'viem';

/**
 * `unreachable`: the facilitator, or the chain behind it, cannot be used now; nothing was sent.
 * `timeout`: it took too long to verify.
 * `refused`: the payment is not good, for `reason`; nothing was sent.
 * `unknown-outcome`: a settlement may or may not be on the chain.
 */
export type FacilitatorErrorCode = 'unreachable' | 'timeout' | 'refused' | 'unknown-outcome';

/**
 * Why a payment was not verified or settled. `reason` is a machine's word of the x402 protocol, such as
 * `invalid_exact_evm_insufficient_balance`. Holds no cause: errors of clients name URLs, and URLs of providers hold
 * keys.
 */
export class FacilitatorError extends Error {
  override readonly name = 'FacilitatorError';
  readonly code: FacilitatorErrorCode;
  readonly reason: string;
  /** Transaction that may have settled the payment. */
  readonly transaction: Hash | null;

  constructor(code: FacilitatorErrorCode, reason: string, transaction: Hash | null = null) {
    super(`${code}: ${reason}`);
    this.code = code;
    this.reason = reason;
    this.transaction = transaction;
  }
}
