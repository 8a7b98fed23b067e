import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLUSTER_FILE } from './cluster-file.ts';

const LOCK_FILE = 'supervisor.pid';
/** How long the parts of a supervisor that was killed may take to notice it and end. In milliseconds. */
const ORPHANS_MS = 6_000;
const LOOK_MS = 100;

/** Takes the home for one supervisor. Throws where another one runs in it. */
export async function lockHome(home: string): Promise<AsyncDisposable> {
  const file = join(home, LOCK_FILE);
  const holder = Number(await readText(file));
  if (holder > 0 && holder !== process.pid && isAlive(holder)) {
    throw new Error(`${home} is in use by the cluster of process ${holder}`);
  }
  if (holder > 0) await orphansGone(home);
  await writeFile(file, `${process.pid}\n`, { mode: 0o600 });
  return { [Symbol.asyncDispose]: () => rm(file, { force: true }) };
}

/** Parts of a killed supervisor end by themselves; their ports and stores are free once they have. */
async function orphansGone(home: string): Promise<void> {
  const pids = (await readText(join(home, CLUSTER_FILE))).matchAll(/"pid": (\d+)/g);
  const waiting = [...pids].map((match) => Number(match[1]));
  for (const end = Date.now() + ORPHANS_MS; waiting.some(isAlive) && Date.now() < end;) await sleep(LOOK_MS);
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
