import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readClusterEnvironment } from '../../cluster/environment.ts';
import { type Plan, planCluster } from '../../cluster/plan.ts';
import type { ClusterFile } from '../../cluster/supervisor/cluster-file.ts';
import { Supervisor } from '../../cluster/supervisor/supervisor.ts';

/** Port bases tried, far from the local cluster's own and below the ports that the system hands out. */
const FIRST_BASE = 21_000;
const LAST_BASE = 29_000;
const BASE_STEP = 500;

/** Nodes and a local ledger as processes, the way `npm start` runs them, on free ports and in a home of their own. */
export class LocalCluster implements AsyncDisposable {
  readonly home: string;
  readonly file: ClusterFile;
  readonly #supervisor: Supervisor;

  private constructor(home: string, supervisor: Supervisor) {
    this.home = home;
    this.file = supervisor.file;
    this.#supervisor = supervisor;
  }

  /** `members` nodes of the local cluster's five. Resolves once all of them accept records. */
  static async start(
    home: string,
    members: number,
    variables: Readonly<Record<string, string>> = {},
  ): Promise<LocalCluster> {
    const plan = await freePlan(members);
    const inherited = { ...readClusterEnvironment().inherited, ...variables };
    await using starting = new AsyncDisposableStack();
    const supervisor = starting.use(new Supervisor({ home, plan, fresh: true, inherited, say: () => {} }));
    await supervisor.start();
    starting.move();
    return new LocalCluster(home, supervisor);
  }

  node(index: number): ClusterFile['nodes'][number] {
    const node = this.file.nodes[index];
    if (node === undefined) throw new RangeError(`the cluster has no node ${index}`);
    return node;
  }

  get apiKey(): string {
    return this.file.demo.apiKeys.bench;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#supervisor[Symbol.asyncDispose]();
  }
}

async function freePlan(members: number): Promise<Plan> {
  for (let base = FIRST_BASE; base <= LAST_BASE; base += BASE_STEP) {
    const whole = planCluster(base);
    const plan = { ...whole, nodes: whole.nodes.slice(0, members) };
    if ((await Promise.all(portsOf(plan).map(isFree))).every(Boolean)) return plan;
  }
  throw new Error(`no free ports from ${FIRST_BASE} to ${LAST_BASE}`);
}

function portsOf({ nodes, ledgerPorts, mirrorGrpcPort, mirrorPort }: Plan): number[] {
  const peers = nodes.map(({ peerAddress }) => Number(peerAddress.split('/').at(-1)));
  return [...nodes.map(({ httpPort }) => httpPort), ...peers, ...ledgerPorts, mirrorGrpcPort, mirrorPort];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const bound = new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
  const free = await bound;
  await new Promise<void>((resolve) => (free ? server.close(() => resolve()) : resolve()));
  return free;
}

/** Asks again until the condition holds. Throws with its name when it does not in time. */
export async function until(what: string, holds: () => Promise<boolean>, patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${patienceMs} ms: ${what}`);
    await sleep(1);
  }
}
