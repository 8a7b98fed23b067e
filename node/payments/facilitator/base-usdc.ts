/** The one network that payments are taken on: Base (CAIP-2). */
export const PAYMENT_NETWORK = 'eip155:8453';
export const PAYMENT_CHAIN_ID = 8453;

/** Circle's USDC on Base. Stock clients refuse any other asset. */
export const USDC_ADDRESS = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
/** Its EIP-712 domain, which every authorization is signed under. */
export const USDC_DOMAIN = { name: 'USD Coin', version: '2' } as const;
/** An amount is in atomic units: 10 to the power of this make a dollar. */
export const USDC_DECIMALS = 6;
