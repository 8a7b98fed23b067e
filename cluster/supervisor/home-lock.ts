import { appendFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from './start-error.ts';

/** A process id a line: the supervisor's, then those of the parts that it started. */
const LOCK_FILE = 'supervisor.pid';
/** How long the parts of a supervisor that was killed may take to notice it and end: a node ends its start first. In milliseconds. */
const ORPHANS_MS = 30_000;
const LOOK_MS = 100;

/** A home that one supervisor has, until it is disposed. */
export interface HomeLock extends AsyncDisposable {
  /** Notes a part, so that the next supervisor waits for its end where this one is killed. */
  note(pid: number): void;
}

/** Takes the home for one supervisor. Throws `StartError` where another one runs in it. `say` tells what is waited for. */
export async function lockHome(home: string, say: (line: string) => void): Promise<HomeLock> {
  const file = join(home, LOCK_FILE);
  const [holder = 0, ...parts] = (await readText(file)).split('\n').map(Number);
  if (holder > 0 && holder !== process.pid && isAlive(holder)) {
    throw new StartError(`${home} is in use by the cluster of process ${holder}`);
  }
  const orphans = parts.filter((pid) => pid > 0 && isAlive(pid));
  if (orphans.length > 0) say(`waiting for what an earlier start left running: processes ${orphans.join(', ')}`);
  await orphansGone(orphans);
  await writeFile(file, `${process.pid}\n`, { mode: 0o600 });
  return {
    note: (pid) => appendFileSync(file, `${pid}\n`),
    [Symbol.asyncDispose]: () => rm(file, { force: true }),
  };
}

/** Parts of a killed supervisor end by themselves; their ports and stores are free once they have. */
async function orphansGone(pids: readonly number[]): Promise<void> {
  for (const end = Date.now() + ORPHANS_MS; pids.some(isAlive) && Date.now() < end;) await sleep(LOOK_MS);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch {
    return '';
  }
}
