import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Plan, type PlannedNode, planCluster } from '../../cluster/plan.ts';
import { isFree } from '../../cluster/supervisor/port-check.ts';
import { nodeId } from '../../protocol/ids.ts';

/** Port bases tried: above the local cluster's own, and below those of tests and those that the system hands out. */
const FIRST_BASE = 7_000;
const LAST_BASE = 11_500;
const BASE_STEP = 500;
/** Bases that this process listens on to its end: no port of a plan, and what keeps others from the same plan. */
const claimed = new Set<number>();

const LOOPBACK = '127.0.0.1';
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
    if ((await claim(base)) && (await Promise.all(portsOf(plan).map(isFree))).every(Boolean)) return plan;
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
      baseUrl: `http://${LOOPBACK}:${httpPort}`,
      httpPort,
      metricsPort: first.metricsPort + i,
      peerAddress: `/ip4/${LOOPBACK}/tcp/${peerPort(first) + i}`,
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

/** Whether a base is this process's own. */
async function claim(base: number): Promise<boolean> {
  if (claimed.has(base)) return true;
  const server = createServer().unref();
  try {
    await once(server.listen(base, LOOPBACK), 'listening');
  } catch {
    return false;
  }
  claimed.add(base);
  return true;
}
