import { USDC } from '../../../protocol/payments/usdc.ts';

/** Base, as its nodes say it. */
export const PAYMENT_CHAIN_ID = Number(USDC.network.slice('eip155:'.length));
