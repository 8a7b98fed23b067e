import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer, Socket } from 'node:net';
import { delimiter, join, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { httpRequest } from '../../node/outbound/http-client.ts';
import { PAYMENT_CHAIN_ID } from '../../node/payments/facilitator/chain-id.ts';

export interface AnvilOptions {
  readonly port: number;
  /** State to go on from, in anvil's own JSON. */
  readonly stateFile: string | null;
  /** Mines nothing by itself until it is told to. */
  readonly paused: boolean;
}

/** A running anvil. Disposing it ends it; so does the end of this process, however it comes. */
export interface Anvil extends AsyncDisposable {
  readonly rpcUrl: string;
  readonly pid: number;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
}

const LOOPBACK = '127.0.0.1';
/** Anvil is one binary in an npm package for each platform; where there is none, one on the PATH is taken. */
const PACKAGED = '@foundry-rs/anvil-linux-amd64/bin/anvil';
const PROGRAM = 'anvil';
/** The package's own launcher is on the PATH of every npm script, also where it has nothing to launch. */
const OF_PACKAGES = `${sep}node_modules${sep}`;
/** Room for some thousand transfers a block. */
const BLOCK_GAS = 300_000_000;
/** Blocks whose whole state is kept at hand: each is a copy in memory. */
const STATES_KEPT = 64;
/** In milliseconds. */
const BOOT_MS = 15_000;
const LOOK_MS = 5;
const MAX_ANSWER_BYTES = 64 << 10;
const KILL_AFTER_MS = 1_000;
/** Its write end is held by this process. */
const LIFELINE_FD = 3;
/**
 * Becomes anvil; beside it a shell reads the lifeline and kills it when that is cut, as it is when this process dies.
 */
const SCRIPT = `( read -r line <&${LIFELINE_FD} || kill -9 $$ ) & exec "$@" ${LIFELINE_FD}<&-`;

/** The anvil that is started: npm's for this machine, or else the first on the PATH; null where there is none. */
export function anvilPath(): string | null {
  return packaged() ?? anvilOn(process.env['PATH'] ?? '');
}

/** The first anvil on a PATH, but for npm's launcher. */
export function anvilOn(path: string): string | null {
  for (const folder of path.split(delimiter)) {
    const program = anvilIn(folder);
    if (program !== null) return program;
  }
  return null;
}

function packaged(): string | null {
  try {
    const path = createRequire(import.meta.url).resolve(PACKAGED);
    return existsSync(path) ? path : null;
  } catch {
    return null;
  }
}

function anvilIn(folder: string): string | null {
  const path = join(folder, PROGRAM);
  try {
    accessSync(path, constants.X_OK);
    return realpathSync(path).includes(OF_PACKAGES) ? null : path;
  } catch {
    return null;
  }
}

/**
 * Starts anvil as a chain with the id of Base, on loopback, with no accounts of its own.
 *
 * @throws Error where the port is taken, there is no anvil for this machine, or it ends before it answers
 */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const program = anvilPath();
  if (program === null) throw new Error('there is no anvil for this machine');
  await requireFree(options.port);
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', program, ...flags(options)], {
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  });
  const lifeline = child.stdio[LIFELINE_FD];
  if (lifeline instanceof Socket) lifeline.unref().on('error', () => {});
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      // A line, and not the end of the file: there is nothing to kill any more.
      if (lifeline instanceof Socket) lifeline.end('ended\n');
      resolve();
    });
    child.once('error', () => resolve());
  });
  const rpcUrl = `http://${LOOPBACK}:${options.port}`;
  try {
    await answers(rpcUrl, child);
  } catch (error) {
    await end(child, ended);
    throw error;
  }
  return { rpcUrl, pid: child.pid ?? 0, ended, [Symbol.asyncDispose]: () => end(child, ended) };
}

/** Otherwise anyone who has the port would be taken for the anvil that could not have it. */
async function requireFree(port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', () => reject(new Error(`port ${port} is taken`)));
    server.listen(port, LOOPBACK, () => server.close(() => resolve()));
  });
}

function flags({ port, stateFile, paused }: AnvilOptions): string[] {
  const values: readonly (readonly [flag: string, value: string | number])[] = [
    ['--host', LOOPBACK],
    ['--port', port],
    ['--chain-id', PAYMENT_CHAIN_ID],
    ['--accounts', 0],
    ['--order', 'fifo'],
    ['--gas-limit', BLOCK_GAS],
    ['--prune-history', STATES_KEPT],
    ...(stateFile === null ? [] : [['--load-state', stateFile] as const]),
  ];
  return [...values.flat().map(String), '--no-cors', '--quiet', ...(paused ? ['--no-mining'] : [])];
}

async function answers(rpcUrl: string, child: ChildProcess): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  const headers = { 'content-type': 'application/json' };
  const request = { method: 'POST', headers, body, timeoutMs: BOOT_MS, maxBytes: MAX_ANSWER_BYTES } as const;
  for (const deadline = performance.now() + BOOT_MS; performance.now() < deadline; await sleep(LOOK_MS)) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    try {
      if ((await httpRequest(rpcUrl, request)).ok) return;
    } catch {
      // Not there yet.
    }
  }
  throw new Error(
    `anvil does not run (${child.exitCode ?? child.signalCode ?? 'silent'}); its word is in the log above`,
  );
}

async function end(child: ChildProcess, ended: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  await ended;
  clearTimeout(timer);
}
