import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AccountId, Client, PrivateKey } from '@hashgraph/sdk';
import { startLocalLedger } from '../../../cluster/ledger/local-ledger.ts';
import type { LocalLedger, LocalLedgerOptions } from '../../../cluster/ledger/local-ledger.ts';

export const OPERATOR = '0.0.1001';
export const OPERATOR_TINYBARS = 100_000_000_000_000n;

/** A local ledger of three nodes in this process, with one funded operator. */
export interface RunningLedger extends AsyncDisposable {
  readonly local: LocalLedger;
  readonly operatorKey: PrivateKey;
  /** A client of the SDK as it comes; closed with the ledger. */
  client(key?: PrivateKey): Client;
  get(path: string): Promise<{ status: number; body: unknown }>;
  setFaults(faults: object): Promise<{ status: number; body: unknown }>;
}

export async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'ledger-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export async function runLedger(options: Partial<LocalLedgerOptions> = {}): Promise<RunningLedger> {
  const operatorKey = PrivateKey.generateED25519();
  const stack = new AsyncDisposableStack();
  const directory = options.directory ?? stack.use(await temporaryDirectory()).path;
  const key = { ed25519: operatorKey.publicKey.toBytesRaw() };
  const local = stack.use(
    await startLocalLedger({
      accounts: [{ num: 1_001n, key, tinybars: OPERATOR_TINYBARS }],
      nodePorts: [0, 0, 0],
      mirrorGrpcPort: 0,
      mirrorPort: 0,
      roundMs: 5,
      ...options,
      directory,
    }),
  );
  return {
    local,
    operatorKey,
    client: (signer = operatorKey) => {
      const client = clientOf(local, signer);
      stack.defer(() => client.close());
      return client;
    },
    get: (path) => fetchJson(local.mirrorUrl + path),
    setFaults: (faults) => postFaults(local.mirrorUrl, faults),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export function clientOf(
  { nodes, mirrorGrpc }: Pick<LocalLedger, 'nodes' | 'mirrorGrpc'>,
  operatorKey: PrivateKey,
): Client {
  const network = Object.fromEntries(
    nodes.map(({ host, port, account }) => [`${host}:${port}`, new AccountId(Number(account))]),
  );
  return Client.forNetwork(network, { scheduleNetworkUpdate: false })
    .setMirrorNetwork([mirrorGrpc])
    .setOperator(OPERATOR, operatorKey);
}

export async function fetchJson(url: string): Promise<{ status: number; body: unknown }> {
  const response = await fetch(url);
  return { status: response.status, body: await response.json() };
}

export async function postFaults(mirrorUrl: string, faults: object): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${mirrorUrl}/local/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(faults),
  });
  return { status: response.status, body: await response.json() };
}

/** Asks until the answer is true; fails after 20 seconds. */
export async function waitUntil(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`still waiting for ${holds.toString()}`);
    await sleep(5);
  }
}

/** The status of a failure of the SDK, as text; `null` if the promise was kept. */
export async function statusOfFailure(promise: Promise<unknown>): Promise<string | null> {
  try {
    await promise;
    return null;
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'status' in error) return String(error.status);
    return String(error);
  }
}
