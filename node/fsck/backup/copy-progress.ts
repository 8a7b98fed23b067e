import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Between two looks at the copy, in milliseconds. */
const LOOK_MS = 500;

/** Told how far a backup is. */
export interface BackupProgress {
  /** Bytes of the copy, and of the store that it is made of: about as many, until it is compacted. */
  readonly onCopied?: (bytes: number, all: number) => void;
  /** Records that were proved, and those that there seem to be. */
  readonly onProved?: (records: number, all: number) => void;
}

/** Tells how large a copy is while it is made, by whichever process. */
export async function whileCopied<Result>(
  store: string,
  copy: string,
  copying: Promise<Result>,
  { onCopied }: BackupProgress,
): Promise<Result> {
  if (onCopied === undefined) return copying;
  const all = await bytesIn(store);
  const over = new AbortController();
  const looking = (async () => {
    while (!over.signal.aborted) {
      onCopied(Math.min(await bytesIn(copy), all), all);
      await sleep(LOOK_MS, undefined, { signal: over.signal }).catch(() => {});
    }
  })();
  try {
    return await copying;
  } finally {
    over.abort();
    await looking;
  }
}

/** Of the files that are there: LevelDB takes some away meanwhile. */
async function bytesIn(directory: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(directory).catch(() => [])) {
    const file = await stat(join(directory, name)).catch(() => undefined);
    bytes += file?.size ?? 0;
  }
  return bytes;
}
