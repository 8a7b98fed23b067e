import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Begins the name of a folder beside the store in which a check works, before letters of its own. */
const WORK_PREFIX = 'fsck-';

/** Makes the folder that a check of this home works in. */
export function makeWorkFolder(home: string): Promise<string> {
  return mkdtemp(join(home, WORK_PREFIX));
}

/**
 * Removes what killed checks left in a home: links to the store's files of that time, which would keep what is erased
 * and purged from the store since. Only whoever holds the store's lock may; a check holds it for as long as it works.
 * `own` is the folder of the check that asks, and stays.
 */
export async function removeAbandoned(home: string, own: string | null): Promise<void> {
  for (const name of await readdir(home)) {
    const path = join(home, name);
    if (name.startsWith(WORK_PREFIX) && path !== own) await rm(path, { recursive: true, force: true });
  }
}
