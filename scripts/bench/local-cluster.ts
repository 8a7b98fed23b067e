import { join } from 'node:path';
import { readClusterEnvironment } from '../../cluster/environment.ts';
import type { Plan, PlannedNode } from '../../cluster/plan.ts';
import type { ClusterFile } from '../../cluster/supervisor/cluster-file.ts';
import { Supervisor } from '../../cluster/supervisor/supervisor.ts';
import { freePlan } from './free-plan.ts';

/** Nodes and a local ledger as processes, the way `npm start` runs them, on free ports and in a home of their own. */
export class LocalCluster implements AsyncDisposable {
  readonly home: string;
  readonly plan: Plan;
  readonly #supervisor: Supervisor;

  private constructor(home: string, plan: Plan, supervisor: Supervisor) {
    this.home = home;
    this.plan = plan;
    this.#supervisor = supervisor;
  }

  /**
   * The first `members` of the local cluster's five nodes. Resolves once all of them accept records. `variables`: of
   * every process, beside those of the plan.
   */
  static async start(
    home: string,
    members: number,
    variables: Readonly<Record<string, string>> = {},
  ): Promise<LocalCluster> {
    const plan = await freePlan(members);
    const { inherited } = readClusterEnvironment();
    await using starting = new AsyncDisposableStack();
    const options = { home, plan, fresh: true, inherited: { ...inherited, ...variables }, say: () => {} };
    const supervisor = starting.use(new Supervisor(options));
    await supervisor.start();
    starting.move();
    return new LocalCluster(home, plan, supervisor);
  }

  /** What runs where now: a part that ended is started again as another process. */
  get file(): ClusterFile {
    return this.#supervisor.file;
  }

  node(index: number): PlannedNode {
    const node = this.plan.nodes[index];
    if (node === undefined) throw new RangeError(`the cluster has no node ${index}`);
    return node;
  }

  homeOf({ id }: PlannedNode): string {
    return join(this.home, id);
  }

  get rosterFile(): string {
    return join(this.home, 'roster.json');
  }

  /** Of an account without limits, known to every node. */
  get apiKey(): string {
    return this.file.demo.apiKeys.bench;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#supervisor[Symbol.asyncDispose]();
  }
}
