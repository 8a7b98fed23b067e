import { createTestClient, defineChain, type Hash, type Hex, http, publicActions, rpcSchema } from 'viem';
import { PAYMENT_CHAIN_ID } from '../../node/payments/facilitator/chain-id.ts';

/** Where Multicall3 is on Base, as on most chains. */
export const MULTICALL3_ADDRESS = '0xcA11bde05977b3631167028862bE2a173976CA11';
export const CHAIN_DESCRIPTION = 'local development chain';

/** Anvil answers within milliseconds; its state takes longer the more there is. In milliseconds. */
const TIMEOUT_MS = 60_000;
const POLL_MS = 10;

type DevelopmentMethods = [
  { Method: 'debug_getRawTransaction'; Parameters: [Hash]; ReturnType: Hex },
  { Method: 'anvil_dumpState'; Parameters: []; ReturnType: Hex },
  { Method: 'eth_accounts'; Parameters?: undefined; ReturnType: Hex[] },
  { Method: 'anvil_setTime'; Parameters: [seconds: number]; ReturnType: unknown },
];

/** A client of a local chain, with the methods that only a development chain has. */
export function chainClient(rpcUrl: string) {
  const chain = defineChain({
    id: PAYMENT_CHAIN_ID,
    name: CHAIN_DESCRIPTION,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
    contracts: { multicall3: { address: MULTICALL3_ADDRESS } },
  });
  const transport = http(rpcUrl, { retryCount: 0, timeout: TIMEOUT_MS, batch: true });
  return createTestClient({
    chain,
    mode: 'anvil',
    transport,
    pollingInterval: POLL_MS,
    cacheTime: 0,
    rpcSchema: rpcSchema<DevelopmentMethods>(),
  }).extend(publicActions);
}

export type ChainClient = ReturnType<typeof chainClient>;
