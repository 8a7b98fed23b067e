import { USDC } from '../../../protocol/payments/usdc.ts';
import type { EvmClient } from './chain-client.ts';
import { isUnanswered, rpcAnswer } from './chain-answers.ts';
import { PAYMENT_CHAIN_ID } from './chain-id.ts';
import { FacilitatorError } from './facilitator-error.ts';
import { usdcAbi } from './usdc-abi.ts';

/** Nodes of chains whose money is not real say so themselves. */
const DEVELOPMENT_CLIENT = /^(anvil|hardhat|ganache)/i;

/**
 * Whether the chain's node is one of Base, with USDC on it. Throws `FacilitatorError` with the reason where it is not:
 * `refused` where waiting changes nothing.
 */
export async function probeChain(client: EvmClient, isProduction: boolean): Promise<void> {
  const { chainId, name, version, software } = await ask(client);
  if (chainId !== PAYMENT_CHAIN_ID) throw new FacilitatorError('refused', 'chain_is_another_one');
  if (name !== USDC.name || version !== USDC.version) throw new FacilitatorError('refused', 'chain_lacks_usdc');
  if (isProduction && DEVELOPMENT_CLIENT.test(software)) {
    throw new FacilitatorError('refused', 'chain_is_for_development');
  }
}

async function ask(client: EvmClient) {
  const token = { address: USDC.asset, abi: usdcAbi } as const;
  try {
    const [chainId, software] = await Promise.all([client.getChainId(), softwareOf(client)]);
    const [name, version] = await Promise.all([
      client.readContract({ ...token, functionName: 'name' }).catch(nothing),
      client.readContract({ ...token, functionName: 'version' }).catch(nothing),
    ]);
    return { chainId, name, version, software };
  } catch {
    throw new FacilitatorError('unreachable', 'chain_unreachable');
  }
}

/** Some providers keep it to themselves; none of them serves a development chain. */
async function softwareOf(client: EvmClient): Promise<string> {
  try {
    return await client.request({ method: 'web3_clientVersion' });
  } catch (error) {
    if (rpcAnswer(error) === null) throw error;
    return '';
  }
}

/** A token that is not there, or is another contract, has no name. */
function nothing(error: unknown): undefined {
  if (rpcAnswer(error) === null && !isUnanswered(error)) throw error;
  return undefined;
}
