import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan } from '../plan.ts';
import { StartError } from './start-error.ts';

const LOOPBACK = '127.0.0.1';
/** What was just ended may hold its port a moment longer. In milliseconds. */
const FREE_WITHIN_MS = 2_000;
const LOOK_MS = 100;

export interface WantedPort {
  readonly port: number;
  /** Name of the part that listens there. */
  readonly part: string;
}

/** Every port that a cluster of the plan listens on. */
export function wantedPorts({
  nodes,
  ledgerPorts,
  mirrorGrpcPort,
  mirrorPort,
  chainPort,
  smtpPort,
}: Plan): WantedPort[] {
  const ledger = [...ledgerPorts, mirrorGrpcPort, mirrorPort].map((port) => ({ port, part: 'ledger' }));
  const ofNodes = nodes.flatMap(({ id, httpPort, peerAddress, metricsPort }) =>
    [httpPort, Number(peerAddress.split('/').at(-1)), metricsPort].map((port) => ({ port, part: id })),
  );
  return [...ofNodes, ...ledger, { port: chainPort, part: 'chain' }, { port: smtpPort, part: 'mail' }];
}

/** Throws `StartError` that names every port where something listens already, and the part that wants it. */
export async function requireFree(wanted: readonly WantedPort[]): Promise<void> {
  let taken = await takenOf(wanted);
  for (const end = Date.now() + FREE_WITHIN_MS; taken.length > 0 && Date.now() < end;) {
    await sleep(LOOK_MS);
    taken = await takenOf(taken);
  }
  if (taken.length === 0) return;
  const names = taken.map(({ port, part }) => `port ${port} (${part})`).join(', ');
  throw new StartError(`something else listens on ${names}; end it, or choose other ports with --port-base`);
}

async function takenOf(wanted: readonly WantedPort[]): Promise<WantedPort[]> {
  const free = await Promise.all(wanted.map(({ port }) => isFree(port)));
  return wanted.filter((_, i) => free[i] !== true);
}

/** Whether nobody listens on a port of the loopback. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, LOOPBACK, () => server.close(() => resolve(true)));
  });
}
