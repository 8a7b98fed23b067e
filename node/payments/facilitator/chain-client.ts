import { createPublicClient, custom, defineChain } from 'viem';
import { PAYMENT_CHAIN_ID } from './chain-id.ts';
import { RpcBatches } from './rpc-batches.ts';

/** In milliseconds. */
const RPC_TIMEOUT_MS = 5_000;

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
    transport: custom(new RpcBatches(rpcUrl, RPC_TIMEOUT_MS), { retryCount: 0 }),
    cacheTime: 0,
  });
}

export type EvmClient = ReturnType<typeof openChainClient>;
