import { glob } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

export interface Schedule {
  /** Run a few at a time. */
  together: string[];
  /** Run one at a time, beside those: whole clusters, which load the machine or own fixed ports. */
  inTurn: string[];
  /** Long files that nobody asked for. */
  leftOut: number;
}

/** Which files are wanted: all but the long ones, the long ones alone, or those whose path contains one of these parts. */
export type Selection = 'usual' | 'long' | readonly string[];

/** Ends the name of a file that takes a minute and more: whole federations under attack, or in a storm. */
const LONG = '.long.test.ts';
const IN_TURN_FOLDERS = ['crash/', 'cluster/', 'browser/', 'hostile/'];
/** Single processes of the cluster, at free ports. */
const TOGETHER_FOLDERS = ['cluster/chain/', 'cluster/mail/'];

/** Finds the test files under a folder, in sorted order. Paths come back joined to the folder. */
export async function schedule(folder: string, selection: Selection): Promise<Schedule> {
  const names: string[] = [];
  for await (const found of glob(join(folder, '**/*.test.ts'))) {
    names.push(relative(folder, found).split(sep).join('/'));
  }
  const wanted = names.filter((name) => isWanted(name, selection)).toSorted();
  return {
    together: wanted.filter((name) => !runsInTurn(name)).map((name) => join(folder, name)),
    inTurn: wanted.filter(runsInTurn).map((name) => join(folder, name)),
    leftOut: selection === 'usual' ? names.length - wanted.length : 0,
  };
}

function isWanted(name: string, selection: Selection): boolean {
  if (selection === 'usual') return !name.endsWith(LONG);
  if (selection === 'long') return name.endsWith(LONG);
  return selection.some((part) => `test/${name}`.includes(part));
}

function runsInTurn(name: string): boolean {
  if (TOGETHER_FOLDERS.some((folder) => name.startsWith(folder))) return false;
  return IN_TURN_FOLDERS.some((folder) => name.startsWith(folder));
}
