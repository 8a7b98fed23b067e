import { mkdir, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { reasonOf } from '../rows.ts';

/**
 * `target` where it is to go there is something, or nothing can be written · `source` it cannot be copied · `no-backup`
 * it is no finished backup · `damaged` a file is not the one that was copied · `not-whole` `fsck` finds problems ·
 * `keys` key files cannot go along · `format` its store is of another format.
 */
export type BackupErrorCode = 'target' | 'source' | 'no-backup' | 'damaged' | 'not-whole' | 'keys' | 'format';

/** A backup was not taken or not restored, and nothing that could be mistaken for one is left. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
  readonly code: BackupErrorCode;

  constructor(code: BackupErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** What a backup reads of the store that it copies. Throws `BackupError` `source` where that does not read. */
export async function fromSource<Value>(reading: Promise<Value>): Promise<Value> {
  try {
    return await reading;
  } catch (error) {
    throw new BackupError('source', `the store is damaged, as npm run fsck tells: ${reasonOf(error)}`, error);
  }
}

/** Ends the name of a folder that is being filled, before letters of its own. */
const PARTIAL = '.partial-';
const FOLDER_MODE = 0o700;

/**
 * A folder that comes into being as a whole: `fill` works in one beside it, of another name, which takes the place once
 * all of it is on the disk. Where that fails, or the process is killed, there is nothing at `path`. Throws
 * `BackupError` `target` where something is there, and what `fill` throws.
 */
export async function createFolder<Result>(path: string, fill: (work: string) => Promise<Result>): Promise<Result> {
  await requireFree(path);
  await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
  const work = await mkdtemp(`${path}${PARTIAL}`);
  try {
    const result = await fill(work);
    await syncAll(work);
    await rename(work, path);
    await sync(dirname(path));
    return result;
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    throw error;
  }
}

/** What attempts that were killed left beside a folder. */
export async function leftovers(path: string): Promise<readonly string[]> {
  const names = await readdir(dirname(path)).catch(() => []);
  return names.filter((name) => name.startsWith(basename(path) + PARTIAL)).map((name) => join(dirname(path), name));
}

/** Paths of all files below a folder, in order, with `/` between their parts. */
export async function filesBelow(directory: string): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    if (!entry.isDirectory()) paths.push(entry.name);
    else for (const below of await filesBelow(join(directory, entry.name))) paths.push(`${entry.name}/${below}`);
  }
  return paths.toSorted();
}

/** An empty folder may be there: it gives way to the whole one. */
async function requireFree(path: string): Promise<void> {
  let names: readonly string[];
  try {
    names = await readdir(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw new BackupError('target', `${path} is no folder that can be written`, error);
  }
  if (names.length > 0) throw new BackupError('target', `there is something in ${path} already`);
}

async function syncAll(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await syncAll(path);
    else await sync(path);
  }
  await sync(directory);
}

async function sync(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}
