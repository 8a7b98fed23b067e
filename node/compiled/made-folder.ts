import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What a system says of a folder that would be moved to where one is. */
const TAKEN: ReadonlySet<unknown> = new Set(['ENOTEMPTY', 'EEXIST']);

/**
 * Makes a folder beside its place and moves it there whole, so that a start that ends early leaves nothing half made.
 * Where another process has made the same meanwhile, that one stays. Rejects with what `make` or the disk says.
 */
export async function makeFolder(path: string, make: (work: string) => Promise<void>): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const work = await mkdtemp(`${path}.`);
  try {
    await make(work);
    await rename(work, path).catch((error: NodeJS.ErrnoException) => {
      if (!TAKEN.has(error.code)) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
