import type { JsonObject } from '../json/value.ts';
import { PAYMENT_IDENTIFIER, PAYMENT_IDENTIFIER_DECLARATION } from './identifier.ts';
import type { Payment, PaymentAuthorization, WalletAddress } from './payment.ts';
import { priceOf, type ServiceName, SERVICES } from './prices.ts';
import { type AtomicAmount, type ChainNetwork, USDC } from './usdc.ts';

/** One way to pay, as a 402 answer offers it (x402 v2 §5.1). */
export type PaymentRequirements = {
  readonly scheme: 'exact';
  readonly network: ChainNetwork;
  readonly amount: AtomicAmount;
  readonly asset: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  /** The EIP-712 domain of the asset. */
  readonly extra: { readonly name: string; readonly version: string };
};

/** Whose terms they are. */
export interface Payee {
  /** Address that is paid, as the operator wrote it. */
  readonly payTo: string;
}

/** Life that a client gives its authorization from the moment of signing. In seconds. */
export const MAX_TIMEOUT_SECONDS = 300;
/** Life that an authorization must have left when the work begins: it still has to be settled after. In seconds. */
export const MIN_LIFE_SECONDS = 15;
/** A longer life would leave an unclear settlement unclear for as long. In seconds. */
export const MAX_LIFE_SECONDS = 86_400;

export const X402_VERSION = 2;

export function requirementsOf(service: ServiceName, { payTo }: Payee): PaymentRequirements {
  return {
    scheme: 'exact',
    network: USDC.network,
    amount: priceOf(service),
    asset: USDC.asset,
    payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    extra: { name: USDC.name, version: USDC.version },
  };
}

/** What a 402 answer says beside the terms. */
export interface Demand extends Payee {
  readonly service: ServiceName;
  /** Public address of what is paid for. */
  readonly url: string;
  /** Why this request was not answered. */
  readonly error: string;
  /** Declarations of x402 extensions beside `payment-identifier`. */
  readonly extensions?: JsonObject;
}

/** What is paid for, as x402 names it. */
export function resourceOf(service: ServiceName, url: string) {
  return { url, description: SERVICES[service].description, mimeType: 'application/json' } as const;
}

/** The PaymentRequired object (x402 v2 §5.1): what the header `PAYMENT-REQUIRED` holds. */
export function paymentRequired({ service, url, error, extensions = {}, payTo }: Demand): JsonObject {
  return {
    x402Version: X402_VERSION,
    error,
    resource: resourceOf(service, url),
    accepts: [requirementsOf(service, { payTo })],
    extensions: { [PAYMENT_IDENTIFIER]: PAYMENT_IDENTIFIER_DECLARATION, ...extensions },
  };
}

export type TermsFault =
  | 'scheme_mismatch'
  | 'network_mismatch'
  | 'asset_mismatch'
  | 'amount_mismatch'
  | 'recipient_mismatch'
  | 'authorization_value_mismatch'
  | 'authorization_recipient_mismatch';

/** How a payment differs from the terms, in what it says and in what it signs; null where it meets them. */
export function termsFault({ accepted, authorization }: Payment, terms: PaymentRequirements): TermsFault | null {
  if (accepted.scheme !== terms.scheme) return 'scheme_mismatch';
  if (accepted.network !== terms.network) return 'network_mismatch';
  if (!isSameAddress(accepted.asset, terms.asset)) return 'asset_mismatch';
  if (accepted.amount !== terms.amount) return 'amount_mismatch';
  if (!isSameAddress(accepted.payTo, terms.payTo)) return 'recipient_mismatch';
  if (authorization.value !== terms.amount) return 'authorization_value_mismatch';
  if (!isSameAddress(authorization.to, terms.payTo)) return 'authorization_recipient_mismatch';
  return null;
}

export type TimeFault =
  | 'authorization_not_yet_valid'
  | 'authorization_expired'
  | 'authorization_expires_too_soon'
  | 'authorization_lives_too_long';

/** Why an authorization cannot be worked on now; null where it can. `now` in seconds. */
export function timeFault({ validAfter, validBefore }: PaymentAuthorization, now: number): TimeFault | null {
  // The token's contract takes it strictly between the two.
  if (validAfter >= now) return 'authorization_not_yet_valid';
  if (validBefore <= now) return 'authorization_expired';
  if (validBefore - now < MIN_LIFE_SECONDS) return 'authorization_expires_too_soon';
  return validBefore - now > MAX_LIFE_SECONDS ? 'authorization_lives_too_long' : null;
}

/** Addresses may be written with the checksum of EIP-55 or without. */
export function isSameAddress(one: string, other: WalletAddress | string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
