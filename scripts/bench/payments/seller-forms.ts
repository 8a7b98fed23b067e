import { requirementsOf, type PaymentRequirements } from '../../../protocol/payments/terms.ts';

/** What is sold: an answer that takes no work, and one that makes a record. */
export const PLAIN_PATH = '/v1/x402/plain';
export const RECORD_PATH = '/v1/x402/record';
/** Public address that both sellers have in their terms. */
export const BASE_URL = 'http://seller.example';

/** Handed to a seller's process as its first message; it answers with its port. */
export interface SellerSetup {
  readonly rpcUrl: string;
  readonly payTo: string;
  /** Private key of the account that settles. */
  readonly key: string;
  /** Folder of the seller's own. */
  readonly directory: string;
}

/** How a seller's process is doing, since it was last asked. Bytes and milliseconds. */
export interface SellerState {
  readonly cpuMs: number;
  /** After a collection of garbage: what JavaScript holds, and what the process does. */
  readonly heap: number;
  readonly rss: number;
  readonly peakRss: number;
  readonly loopP99: number;
  readonly loopMax: number;
}

/** The same price in both shops. */
export function sellerTerms(payTo: string): PaymentRequirements {
  return requirementsOf('hedera-fact', { payTo });
}

export function isSellerSetup(value: unknown): value is SellerSetup {
  return typeof value === 'object' && value !== null && 'rpcUrl' in value && 'key' in value && 'directory' in value;
}

export function isSellerState(value: unknown): value is SellerState {
  return typeof value === 'object' && value !== null && 'rss' in value && 'loopP99' in value;
}
