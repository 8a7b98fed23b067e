import { type Hex, keccak256 } from 'viem';
import { headOf } from './block-reader.ts';
import type { ArchivedBlock } from './chain-archive.ts';
import type { ChainClient } from './chain-client.ts';

/**
 * Mines archived blocks again, at their own times, on a chain that mines nothing by itself; those that it holds already
 * are left out. Its clock is set right at the end.
 *
 * @throws Error where a block does not follow or does not come out the same
 */
export async function replay(client: ChainClient, blocks: readonly ArchivedBlock[]): Promise<void> {
  let head = await headOf(client);
  const [first] = blocks;
  if (first !== undefined) await setClock(client, first.timestamp);
  for (const { number, timestamp, transactions } of blocks) {
    if (number <= head) continue;
    if (number !== head + 1) throw new Error(`block ${head + 1} is missing from the journal`);
    await client.setNextBlockTimestamp({ timestamp: BigInt(timestamp) });
    for (const serializedTransaction of transactions) await client.sendRawTransaction({ serializedTransaction });
    await client.mine({ blocks: 1 });
    head = number;
    await requireMined(client, transactions, number);
  }
  await setClock(client, Math.floor(Date.now() / 1_000));
}

/** No block can be earlier than the chain's clock has been. */
async function setClock(client: ChainClient, seconds: number): Promise<void> {
  await client.request({ method: 'anvil_setTime', params: [seconds] });
}

async function requireMined(client: ChainClient, transactions: readonly Hex[], block: number): Promise<void> {
  const last = transactions.at(-1);
  if (last === undefined) return;
  const receipt = await client.getTransactionReceipt({ hash: keccak256(last) }).catch(() => null);
  if (receipt === null || Number(receipt.blockNumber) !== block) {
    throw new Error(`block ${block} of the journal does not come out the same; only a fresh chain helps`);
  }
}
