import { judgePack } from '../../../protocol/pack/judge-pack.ts';
import type { PackVerdict } from '../../../protocol/pack/pack-verdict.ts';
import { nobleHash, nobleSuite } from '../../../protocol/suite/noble.ts';
import type { Known } from '../../../protocol/verdict/known.ts';

/** How long the page stands still at a time. In milliseconds. */
const SLICE_MS = 40;

/** How far a pack is judged: a part of 1, and in records. */
export interface PackProgress {
  readonly done: number;
  readonly records: number;
}

/**
 * The verdict on a pack, which is read piece by piece however long it is. The page is drawn between two slices of the
 * work. Rejects where the file cannot be read any more.
 */
export function judgePackFile(
  file: Blob,
  known: Known,
  onProgress: (progress: PackProgress) => void,
): Promise<PackVerdict> {
  let sliceEnd = performance.now() + SLICE_MS;
  const source = {
    size: file.size,
    read: async (from: number, to: number) => new Uint8Array(await file.slice(from, to).arrayBuffer()),
  };
  return judgePack(source, {
    suite: nobleSuite,
    newHash: nobleHash,
    known,
    async onProgress(done, records) {
      if (performance.now() < sliceEnd) return;
      onProgress({ done, records });
      await new Promise((resolve) => setTimeout(resolve));
      sliceEnd = performance.now() + SLICE_MS;
    },
  });
}
