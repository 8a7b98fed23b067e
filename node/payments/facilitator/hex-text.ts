import type { Hex } from 'viem';
import type { PaymentNonce, WalletAddress } from '../../../protocol/payments/payment.ts';

/** An address or nonce, which begins with `0x` by its form, as the type that says so. */
export function hexOf(text: WalletAddress | PaymentNonce): Hex {
  return `0x${text.slice(2)}`;
}
