import type { ChainClient } from './chain-client.ts';

/** When blocks come: seconds between two of them, or null where each transaction is mined at once. */
export type BlockSeconds = number | null;

export async function resumeMining(client: ChainClient, blockSeconds: BlockSeconds): Promise<void> {
  if (blockSeconds !== null) return client.setIntervalMining({ interval: blockSeconds });
  await client.setAutomine(true);
  // Transactions that came meanwhile are not mined by themselves.
  const { pending } = await client.getTxpoolStatus();
  if (pending > 0) await client.mine({ blocks: 1 });
}

/** A block that is being mined is still finished after this resolves. */
export async function pauseMining(client: ChainClient, blockSeconds: BlockSeconds): Promise<void> {
  await (blockSeconds === null ? client.setAutomine(false) : client.setIntervalMining({ interval: 0 }));
}
