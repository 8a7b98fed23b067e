import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UnreadableFileError } from './read-text.ts';

const SUFFIX = '.json';

/** A file to judge; `fault` is why it cannot be. */
export interface Target {
  readonly path: string;
  readonly fault: string | null;
}

/** Whether these may come to more than one file. */
export async function areSeveral(targets: readonly string[]): Promise<boolean> {
  const [first, ...others] = targets;
  return others.length > 0 || (first !== undefined && (await isFolder(first)));
}

/**
 * The files that these name, as they are given; of a folder its `*.json`, by name. One that is not there is a fault.
 */
export async function* filesOf(targets: readonly string[]): AsyncGenerator<Target> {
  for (const target of targets) {
    try {
      if (await isFolder(target)) {
        for (const name of await namesIn(target)) yield { path: join(target, name), fault: null };
      } else yield { path: target, fault: null };
    } catch (error) {
      yield { path: target, fault: error instanceof Error ? error.message : String(error) };
    }
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Anyone who reads it says why it cannot be read.
    return false;
  }
}

/** Throws where there is none: a folder of nothing shows nothing. */
async function namesIn(folder: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const entry of await opendir(folder)) {
    if (entry.name.endsWith(SUFFIX) && !entry.isDirectory()) names.push(entry.name);
  }
  if (names.length === 0) throw new UnreadableFileError(`no *${SUFFIX} is in it`);
  return names.sort();
}
