import type { EvmClient } from './chain-client.ts';
import type { ChainBlock } from './contract.ts';

/**
 * Number of a block such that all blocks from a time on (epoch seconds) come at or after it, close to it: found by ever
 * longer steps back from the head, then by halving. Throws what the client throws.
 */
export async function blockBefore(client: EvmClient, head: ChainBlock, seconds: number): Promise<bigint> {
  let late = head.number;
  let step = 1n;
  let early = late;
  while (early > 0n) {
    early = late > step ? late - step : 0n;
    if ((await timeOf(client, early)) < seconds) break;
    late = early;
    step *= 2n;
  }
  while (late - early > 1n) {
    const middle = (early + late) / 2n;
    if ((await timeOf(client, middle)) < seconds) early = middle;
    else late = middle;
  }
  return early;
}

async function timeOf(client: EvmClient, blockNumber: bigint): Promise<number> {
  return Number((await client.getBlock({ blockNumber })).timestamp);
}
