import { glob } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

export interface Schedule {
  /** Run a few at a time. */
  together: string[];
  /** Run one at a time, beside those: whole clusters, which load the machine or own fixed ports. */
  inTurn: string[];
}

const IN_TURN_FOLDERS = ['crash/', 'cluster/', 'browser/', 'hostile/'];
/** Single processes of the cluster, at free ports. */
const TOGETHER_FOLDERS = ['cluster/chain/', 'cluster/mail/'];

/**
 * Finds the test files under a folder, in sorted order. With filters, only files whose path inside the folder contains
 * one of them. Paths come back joined to the folder.
 */
export async function schedule(folder: string, filters: readonly string[]): Promise<Schedule> {
  const names: string[] = [];
  for await (const found of glob(join(folder, '**/*.test.ts'))) {
    names.push(relative(folder, found).split(sep).join('/'));
  }
  const wanted = names.filter((name) => filters.length === 0 || filters.some((part) => `test/${name}`.includes(part)));
  wanted.sort();
  return {
    together: wanted.filter((name) => !runsInTurn(name)).map((name) => join(folder, name)),
    inTurn: wanted.filter(runsInTurn).map((name) => join(folder, name)),
  };
}

function runsInTurn(name: string): boolean {
  if (TOGETHER_FOLDERS.some((folder) => name.startsWith(folder))) return false;
  return IN_TURN_FOLDERS.some((folder) => name.startsWith(folder));
}
