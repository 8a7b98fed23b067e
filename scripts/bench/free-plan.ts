import { createServer } from 'node:net';
import { type Plan, type PlannedNode, planCluster } from '../../cluster/plan.ts';
import { nodeId } from '../../protocol/ids.ts';

/** Port bases tried, far from the local cluster's own and below the ports that the system hands out. */
const FIRST_BASE = 21_000;
const LAST_BASE = 29_000;
const BASE_STEP = 500;

/** Ports of a plan's HTTP ports end where those for peers begin. */
const MOST_MEMBERS = 99;

/**
 * A plan of the local cluster's first `members` nodes, and beyond those of second, third… nodes in the same regions, on
 * loopback ports that nobody listens on.
 */
export async function freePlan(members: number): Promise<Plan> {
  for (let base = FIRST_BASE; base <= LAST_BASE; base += BASE_STEP) {
    const whole = planCluster(base);
    const plan = { ...whole, nodes: nodesOf(whole, members) };
    if ((await Promise.all(portsOf(plan).map(isFree))).every(Boolean)) return plan;
  }
  throw new Error(`no free ports from ${FIRST_BASE} to ${LAST_BASE}`);
}

function nodesOf({ nodes }: Plan, members: number): PlannedNode[] {
  if (members > MOST_MEMBERS) throw new RangeError(`a plan has ports for ${MOST_MEMBERS} members, not ${members}`);
  return Array.from({ length: members }, (_, i) => {
    const [region, first] = [nodes[i % nodes.length], nodes[0]];
    if (region === undefined || first === undefined) throw new RangeError('a plan has nodes');
    if (i < nodes.length) return region;
    const httpPort = first.httpPort + i;
    return {
      id: nodeId(`${region.id}${Math.floor(i / nodes.length) + 1}`),
      region: region.region,
      baseUrl: `http://127.0.0.1:${httpPort}`,
      httpPort,
      metricsPort: first.metricsPort + i,
      peerAddress: `/ip4/127.0.0.1/tcp/${peerPort(first) + i}`,
      operatorId: `0.0.${Number(first.operatorId.split('.').at(-1)) + i}`,
    };
  });
}

function peerPort({ peerAddress }: PlannedNode): number {
  return Number(peerAddress.split('/').at(-1));
}

function portsOf({ nodes, ledgerPorts, mirrorGrpcPort, mirrorPort, chainPort, smtpPort }: Plan): number[] {
  const peers = nodes.map(peerPort);
  const others = [mirrorGrpcPort, mirrorPort, chainPort, smtpPort];
  return [
    ...nodes.flatMap(({ httpPort, metricsPort }) => [httpPort, metricsPort]),
    ...peers,
    ...ledgerPorts,
    ...others,
  ];
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
