import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BODY_BYTES } from '../decisions.ts';
import type { Part, Result } from '../part.ts';
import { count, ratio } from '../table.ts';
import { fillCluster } from './filled-cluster.ts';

const FULL_RECORDS = 20_000;
const QUICK_RECORDS = 500;
const BLOCK_BYTES = 512;

/** Bytes on the disk for a record, at its own node and at a peer. */
export const storage: Part = {
  name: 'storage',
  title: 'Bytes stored a record',
  async run(options): Promise<Result> {
    const records = options.quick ? QUICK_RECORDS : FULL_RECORDS;
    let filled;
    {
      await using open = await fillCluster(options.home, records, options);
      filled = open.cluster;
    }
    const storeOf = (index: number) => join(filled.homeOf(filled.node(index)), 'store');
    const [own, peer] = [await usedBytes(storeOf(0)), await usedBytes(storeOf(1))];
    const row = (name: string, bytes: number) => [
      name,
      count(bytes),
      count(bytes / records),
      ratio(bytes / records / BODY_BYTES),
    ];
    return {
      table: [['store of', 'bytes', 'a record', 'against its body'], row('its own node', own), row('a peer', peer)],
      notes: [
        `Disk blocks of the stores of stopped nodes after ${count(records)} records with bodies of ${count(BODY_BYTES)} bytes, all`,
        'confirmed. Its own node also keeps the encrypted payload. LevelDB’s logs, not yet compacted, count as they are.',
      ],
    };
  },
};

/** What `du` says of a folder. */
export async function usedBytes(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { recursive: true })) {
    bytes += (await lstat(join(directory, entry))).blocks * BLOCK_BYTES;
  }
  return bytes;
}
