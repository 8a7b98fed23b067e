import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A new file, with its content and its name on the disk when it resolves. Throws where there is one already. */
export async function createDurably(path: string, text: string, mode: number): Promise<void> {
  {
    await using file = await open(path, 'wx', mode);
    await file.writeFile(text);
    await file.sync();
  }
  await syncFolderOf(path);
}

/**
 * Puts a file in the place of another, as a whole. Crash order: the new one is on the disk before it takes the name.
 */
export async function replaceDurably(path: string, text: string, mode: number): Promise<void> {
  const fresh = `${path}.new`;
  // What a crash left of an earlier attempt.
  await rm(fresh, { force: true });
  await createDurably(fresh, text, mode);
  await renameDurably(fresh, path);
}

/** Gives a file another name; what stood there is gone. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncFolderOf(to);
}

/** Takes a file away, if it is there. */
export async function removeDurably(path: string): Promise<void> {
  await rm(path, { force: true });
  await syncFolderOf(path);
}

async function syncFolderOf(path: string): Promise<void> {
  await using folder = await open(dirname(path), 'r');
  await folder.sync();
}
