import { createPublicClient, defineChain, http } from 'viem';
import { PAYMENT_CHAIN_ID } from './chain-id.ts';

/** In milliseconds. */
export const RPC_TIMEOUT_MS = 5_000;

/** A client of the chain's node. It asks once: whoever asks again knows whether that does harm. */
export function openChainClient(rpcUrl: string) {
  const chain = defineChain({
    id: PAYMENT_CHAIN_ID,
    name: 'Base',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  });
  return createPublicClient({
    chain,
    transport: http(rpcUrl, { retryCount: 0, timeout: RPC_TIMEOUT_MS }),
    cacheTime: 0,
  });
}

export type EvmClient = ReturnType<typeof openChainClient>;
