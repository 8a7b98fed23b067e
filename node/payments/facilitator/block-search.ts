import type { EvmClient } from './chain-client.ts';
import type { ChainBlock } from './contract.ts';

/**
 * Number of the first block of a time (epoch seconds) or after it; the head where there is none. Found by ever longer
 * steps back from the head, then by halving. Throws what the client throws.
 */
export async function firstBlockSince(client: EvmClient, head: ChainBlock, seconds: number): Promise<bigint> {
  let late = head.number;
  let early = late;
  for (let step = 1n; early > 0n; step *= 2n) {
    early = late > step ? late - step : 0n;
    if ((await timeOf(client, early)) < seconds) break;
    late = early;
  }
  while (late - early > 1n) {
    const middle = (early + late) / 2n;
    if ((await timeOf(client, middle)) < seconds) early = middle;
    else late = middle;
  }
  return late;
}

/** Number of the first block, up to a head that it holds for, that a condition holds for as for all after it. */
export async function firstBlockThat(head: bigint, holds: (block: bigint) => Promise<boolean>): Promise<bigint> {
  let low = 0n;
  let high = head;
  while (low < high) {
    const middle = (low + high) / 2n;
    if (await holds(middle)) high = middle;
    else low = middle + 1n;
  }
  return low;
}

async function timeOf(client: EvmClient, blockNumber: bigint): Promise<number> {
  return Number((await client.getBlock({ blockNumber })).timestamp);
}
