import type { ArchivedBlock } from './chain-archive.ts';
import type { ChainClient } from './chain-client.ts';

/** Reads a block that is there, with its transactions as they were signed. */
export async function readBlock(client: ChainClient, number: number): Promise<ArchivedBlock> {
  const { timestamp, transactions } = await client.getBlock({ blockNumber: BigInt(number) });
  const signed = transactions.map((hash) => client.request({ method: 'debug_getRawTransaction', params: [hash] }));
  return { number, timestamp: Number(timestamp), transactions: await Promise.all(signed) };
}

export async function headOf(client: ChainClient): Promise<number> {
  return Number(await client.getBlockNumber());
}
