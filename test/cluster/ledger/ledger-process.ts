import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Payer } from './signed-transaction.ts';

const MAIN = fileURLToPath(new URL('../../../cluster/ledger/main.ts', import.meta.url));

export interface LedgerProcess {
  readonly child: ChildProcess;
  readonly nodes: readonly string[];
  readonly mirrorGrpc: string;
  readonly mirrorUrl: string;
}

/** Starts the ledger as the supervisor does. Rejects with what it wrote to stderr if it ends before it is ready. */
export async function forkLedger(
  home: string,
  payer: Payer,
  env: Record<string, string> = {},
  moreFlags: readonly string[] = [],
): Promise<LedgerProcess> {
  const accounts = join(home, 'accounts.json');
  const ed25519 = Buffer.from(payer.publicKey).toString('hex');
  await writeFile(accounts, JSON.stringify([{ account: `0.0.${payer.num}`, ed25519, tinybars: '1000000000000000' }]));
  const flags = ['--home', home, '--nodes', '0,0,0', '--mirror-grpc', '0', '--mirror', '0', '--accounts', accounts];
  const child = fork(MAIN, [...flags, ...moreFlags], { silent: true, env: { ...process.env, ...env } });
  const killWithUs = (): boolean => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  let complaint = '';
  child.stderr?.on('data', (data) => {
    complaint += data;
  });
  child.stdout?.resume();
  const { promise, resolve, reject } = Promise.withResolvers<LedgerProcess>();
  child.once('exit', () => {
    process.off('exit', killWithUs);
    reject(new Error(complaint));
  });
  child.once('message', (message) => {
    const ready = readyOf(message);
    if (ready) resolve({ child, ...ready });
    else reject(new Error(`unexpected message ${JSON.stringify(message)}`));
  });
  return promise;
}

/** Milliseconds until the process has ended. */
export async function ended(child: ChildProcess, end: () => void): Promise<number> {
  const start = performance.now();
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once('exit', () => resolve());
  end();
  await promise;
  return performance.now() - start;
}

function readyOf(message: unknown): Omit<LedgerProcess, 'child'> | null {
  if (typeof message !== 'object' || message === null || !('ready' in message)) return null;
  if (!('nodes' in message && Array.isArray(message.nodes))) return null;
  if (!('mirrorGrpc' in message && typeof message.mirrorGrpc === 'string')) return null;
  if (!('mirrorUrl' in message && typeof message.mirrorUrl === 'string')) return null;
  const nodes = message.nodes.map((node: { address: string }) => node.address);
  return { nodes, mirrorGrpc: message.mirrorGrpc, mirrorUrl: message.mirrorUrl };
}
