import type { WalletAddress } from '../../protocol/payments/payment.ts';

/** The account that a wallet's records are made under. No account of a tenant can have the name: it holds a colon. */
export function walletAccount(payer: WalletAddress): string {
  return `x402:${payer}`;
}
