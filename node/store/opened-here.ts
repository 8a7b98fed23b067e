import { stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Folders of the stores that this process has open, and the files that lock them, by device and number. */
const open = new Set<string>();

/** Gives the place back when the store is closed. */
export interface Hold {
  /** Once the database is open, and its lock file there. */
  lock(): Promise<void>;
  release(): void;
}

/**
 * Claims a folder for one store of this process; undefined where one has it, under whatever name. LevelDB must not be
 * asked: it opens the lock file before it refuses and closes it again, and with that, by the rules of POSIX locks, the
 * lock that this process holds on the file is gone, so that another process could come in.
 */
export async function holdHere(directory: string): Promise<Hold | undefined> {
  const file = join(directory, 'LOCK');
  const [folder, lock] = [await identityOf(directory), await identityOf(file)];
  if ([folder, lock].some((identity) => identity !== undefined && open.has(identity))) return undefined;
  const held = new Set<string>();
  const take = (identity: string | undefined) => {
    if (identity === undefined) return;
    held.add(identity);
    open.add(identity);
  };
  take(folder);
  take(lock);
  return {
    lock: async () => take(await identityOf(file)),
    release() {
      for (const identity of held) open.delete(identity);
    },
  };
}

async function identityOf(path: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
