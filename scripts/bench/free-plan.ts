import { createServer } from 'node:net';
import { type Plan, planCluster } from '../../cluster/plan.ts';

/** Port bases tried, far from the local cluster's own and below the ports that the system hands out. */
const FIRST_BASE = 21_000;
const LAST_BASE = 29_000;
const BASE_STEP = 500;

/** A plan of the local cluster's first `members` nodes on loopback ports that nobody listens on. */
export async function freePlan(members: number): Promise<Plan> {
  for (let base = FIRST_BASE; base <= LAST_BASE; base += BASE_STEP) {
    const whole = planCluster(base);
    const plan = { ...whole, nodes: whole.nodes.slice(0, members) };
    if ((await Promise.all(portsOf(plan).map(isFree))).every(Boolean)) return plan;
  }
  throw new Error(`no free ports from ${FIRST_BASE} to ${LAST_BASE}`);
}

function portsOf({ nodes, ledgerPorts, mirrorGrpcPort, mirrorPort, chainPort, smtpPort }: Plan): number[] {
  const peers = nodes.map(({ peerAddress }) => Number(peerAddress.split('/').at(-1)));
  const others = [mirrorGrpcPort, mirrorPort, chainPort, smtpPort];
  return [...nodes.map(({ httpPort }) => httpPort), ...peers, ...ledgerPorts, ...others];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const free = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
  if (free) await new Promise<void>((resolve) => server.close(() => resolve()));
  return free;
}
