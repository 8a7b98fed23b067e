import { appendFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createConnection, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from './start-error.ts';

/** The supervisor listens here as long as it lives: a process id may be another process's by now, and tells nothing. */
const LOCK_SOCKET = 'supervisor.sock';
/** A process id a line: the supervisor's, then those of the parts that it started. */
const PIDS_FILE = 'supervisor.pid';
/**
 * How long parts of a killed supervisor may take to notice it and end: a node ends its start first. In milliseconds.
 */
const ORPHANS_MS = 30_000;
const LOOK_MS = 100;

/** A home that one supervisor has, until it is disposed. */
export interface HomeLock extends AsyncDisposable {
  /** Notes a part, so that the next supervisor waits for its end where this one is killed. */
  note(pid: number): void;
}

/**
 * Takes the home for one supervisor. Throws `StartError` where another one runs in it. `say` tells what is waited for.
 */
export async function lockHome(home: string, say: (line: string) => void): Promise<HomeLock> {
  const file = join(home, PIDS_FILE);
  const [holder = 0, ...parts] = (await readText(file)).split('\n').map(Number);
  const server = await holdSocket(join(home, LOCK_SOCKET));
  if (server === null) throw new StartError(`${home} is in use by the cluster of process ${holder}`);
  const orphans = parts.filter((pid) => pid > 0 && isAlive(pid));
  if (orphans.length > 0) say(`waiting for what an earlier start left running: processes ${orphans.join(', ')}`);
  await orphansGone(orphans);
  await writeFile(file, `${process.pid}\n`, { mode: 0o600 });
  return {
    note: (pid) => appendFileSync(file, `${pid}\n`),
    async [Symbol.asyncDispose]() {
      await rm(file, { force: true });
      server.close();
    },
  };
}

/** Null where another process listens there. */
async function holdSocket(path: string): Promise<Server | null> {
  const server = await listening(path);
  if (server !== null) return server;
  if (await answers(path)) return null;
  // Of a supervisor that was killed.
  await rm(path, { force: true });
  return listening(path);
}

/** Null where there is such a file already. */
function listening(path: string): Promise<Server | null> {
  const server = createServer((connection) => connection.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', (error) => ('code' in error && error.code === 'EADDRINUSE' ? resolve(null) : reject(error)));
    server.listen(path, () => resolve(server.unref()));
  });
}

function answers(path: string): Promise<boolean> {
  const connection = createConnection(path);
  return new Promise<boolean>((resolve) => {
    connection.once('connect', () => resolve(true));
    connection.once('error', () => resolve(false));
  }).finally(() => connection.destroy());
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
