import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { headOf } from './block-reader.ts';
import type { ChainClient } from './chain-client.ts';
import { type BlockSeconds, pauseMining, resumeMining } from './mining.ts';

const decompress = promisify(gunzip);

/** A block that was under way when mining was paused is finished by then. In milliseconds. */
const SETTLE_MS = 50;
const MOST_LOOKS = 20;

/**
 * The chain's whole state with its blocks and receipts, as anvil loads it from a file. Mining pauses meanwhile: anvil
 * reads accounts and blocks one after the other, and would mix two heights.
 */
export async function dumpState(client: ChainClient, blockSeconds: BlockSeconds): Promise<Uint8Array> {
  await pauseMining(client, blockSeconds);
  try {
    for (let look = 0; look < MOST_LOOKS; look++) {
      const head = await headOf(client);
      await sleep(SETTLE_MS);
      if ((await headOf(client)) !== head) continue;
      const packed = await client.request({ method: 'anvil_dumpState', params: [] });
      if ((await headOf(client)) === head) return await decompress(Buffer.from(packed.slice(2), 'hex'));
    }
    throw new Error('the chain mines although it was told to pause');
  } finally {
    await resumeMining(client, blockSeconds);
  }
}
