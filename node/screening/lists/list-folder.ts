import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fills, formOf } from './edition-files.ts';
import { isFileName, SAMPLE_FILE } from './edition-manifest.ts';
import type { IncomingFile } from './edition-staging.ts';
import { ListError } from './list-error.ts';
import type { ListId } from './list-id.ts';

export interface ListFolder {
  readonly files: readonly IncomingFile[];
  /** Names in the folder that are no part of the list as it is read. */
  readonly ignored: readonly string[];
}

/**
 * The files of a list in its sub-folder of a folder; undefined where there is no such sub-folder. Throws `ListError`
 * where one is missing, or there are two for one place.
 */
export async function readListFolder(directory: string, listId: ListId): Promise<ListFolder | undefined> {
  const folder = join(directory, listId);
  const names = await namesIn(folder);
  if (names === undefined) return undefined;
  const { slots } = formOf(listId, names);
  const used: string[] = [];
  for (const slot of slots) {
    const [name, other] = names.filter((candidate) => fills(candidate, slot));
    if (other !== undefined) throw new ListError('files-missing', `${name} and ${other} are the same file: leave one`);
    if (name !== undefined) used.push(name);
  }
  if (names.includes(SAMPLE_FILE)) used.push(SAMPLE_FILE);
  for (const name of used) await requireFile(folder, name);
  return {
    files: used.map((name) => ({ name, bytes: () => bytesOf(join(folder, name)) })),
    ignored: names.filter((name) => !used.includes(name)),
  };
}

async function namesIn(folder: string): Promise<readonly string[] | undefined> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new ListError('files-missing', `${folder} cannot be read`, error);
  }
}

/** A pipe or device would never end. */
async function requireFile(folder: string, name: string): Promise<void> {
  const found = await stat(join(folder, name)).catch(() => undefined);
  if (found?.isFile() !== true || !isFileName(name)) throw new ListError('files-missing', `${name} is no plain file`);
}

async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of createReadStream(path)) {
      if (!(chunk instanceof Uint8Array)) throw new TypeError('a file gives no bytes');
      yield chunk;
    }
  } catch (error) {
    throw new ListError('files-missing', `${path} cannot be read`, error);
  }
}
