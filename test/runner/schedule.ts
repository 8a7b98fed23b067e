import { glob } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** Test files that one process runs one after another: what they import is loaded, and compiled well, once. */
export type Batch = readonly string[];

export interface Schedule {
  /** Run a few at a time. */
  together: Batch[];
  /** Run one at a time, beside those: whole clusters, which load the machine or own fixed ports. */
  serial: Batch[];
  /** Long files that nobody asked for. */
  leftOut: number;
}

/**
 * Which files are wanted: all but the long ones, the long ones alone, or those whose path contains one of these parts.
 */
export type Selection = 'usual' | 'long' | readonly string[];

/** Ends the name of a file that takes a minute and more: whole federations under attack, or in a storm. */
const LONG = '.long.test.ts';
const SERIAL_FOLDERS = ['crash/', 'cluster/', 'browser/', 'fuzz/'];
/** Single processes of the cluster, at free ports. */
const TOGETHER_FOLDERS = ['cluster/chain/', 'cluster/mail/', 'cluster/supervisor/'];

/** More than a small machine has cores: half of the tests wait most of their time. */
export const PROCESSES_AT_ONCE = 5;
/**
 * So many that loading is a small part of a process, and so few that its memory stays small and the last ones end
 * together.
 */
const MOST_FILES_OF_BATCH = 12;

/** Finds the test files under a folder, in sorted order. Paths come back joined to the folder. */
export async function schedule(folder: string, selection: Selection): Promise<Schedule> {
  const names: string[] = [];
  for await (const found of glob(join(folder, '**/*.test.ts'), { exclude: isOfPackages })) {
    names.push(relative(folder, found).split(sep).join('/'));
  }
  const wanted = names.filter((name) => isWanted(name, selection)).toSorted();
  return {
    together: batches(wanted.filter((name) => !runsSerially(name)).map((name) => join(folder, name))),
    serial: batches(wanted.filter(runsSerially).map((name) => join(folder, name))),
    leftOut: selection === 'usual' ? names.length - wanted.length : 0,
  };
}

/** Packages that a folder of tests has installed for itself have tests of their own. */
function isOfPackages(path: string): boolean {
  return path.split(sep).includes('node_modules');
}

/** Neighbours in a batch, for they import much the same. */
function batches(paths: readonly string[]): Batch[] {
  const size = Math.min(MOST_FILES_OF_BATCH, Math.max(1, Math.ceil(paths.length / PROCESSES_AT_ONCE)));
  return Array.from({ length: Math.ceil(paths.length / size) }, (_, index) =>
    paths.slice(index * size, (index + 1) * size),
  );
}

function isWanted(name: string, selection: Selection): boolean {
  if (selection === 'usual') return !name.endsWith(LONG);
  if (selection === 'long') return name.endsWith(LONG);
  return selection.some((part) => `test/${name}`.includes(part));
}

function runsSerially(name: string): boolean {
  if (TOGETHER_FOLDERS.some((folder) => name.startsWith(folder))) return false;
  return SERIAL_FOLDERS.some((folder) => name.startsWith(folder));
}
