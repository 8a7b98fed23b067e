import {
  isPaymentNonce,
  isWalletAddress,
  type PaymentAuthorization,
  type PaymentNonce,
  type WalletAddress,
} from '../../protocol/payments/payment.ts';
import type { PaymentRequirements } from '../../protocol/payments/terms.ts';

/** What an authorization is known by: the chain counts each of these once, and so does the node. */
export interface PaymentKey {
  readonly network: string;
  /** In lower case. */
  readonly asset: WalletAddress;
  readonly payer: WalletAddress;
  readonly nonce: PaymentNonce;
}

export type PaymentKeyParts = readonly [network: string, asset: string, payer: string, nonce: string];

const NETWORK = /^eip155:[1-9]\d{0,15}$/;

export function paymentKey(authorization: PaymentAuthorization, terms: PaymentRequirements): PaymentKey {
  const asset = terms.asset.toLowerCase();
  if (!isWalletAddress(asset)) throw new RangeError('the terms name no asset');
  return { network: terms.network, asset, payer: authorization.from, nonce: authorization.nonce };
}

/** The key as parts of a row's key. */
export function keyParts({ network, asset, payer, nonce }: PaymentKey): PaymentKeyParts {
  return [network, asset, payer, nonce];
}

/** The key as one text. */
export function keyText(key: PaymentKey): string {
  return keyParts(key).join('/');
}

/** Undefined where the parts are no key. */
export function readKeyParts(parts: readonly string[]): PaymentKey | undefined {
  const [network = '', asset = '', payer = '', nonce = '', ...more] = parts;
  if (more.length > 0 || !NETWORK.test(network)) return undefined;
  if (!isWalletAddress(asset) || !isWalletAddress(payer) || !isPaymentNonce(nonce)) return undefined;
  return { network, asset, payer, nonce };
}

export function readKeyText(text: string): PaymentKey | undefined {
  return readKeyParts(text.split('/'));
}
