import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fsck } from '../../node/fsck/fsck.ts';
import { recordIndex } from '../../node/records/record-tables.ts';
import { Load, notVerified, verify } from '../fixtures/load.ts';
import { ClusterProcesses } from '../fixtures/processes.ts';
import { inspect } from '../crash/whole-home.ts';
import { plannedKill } from './plan.ts';

export interface SoakOptions {
  readonly seed: number;
  /** Number of the first kill, and how many there are at most. */
  readonly from: number;
  readonly kills: number;
  /** Kills between two full checks of the node that just died. */
  readonly checkEvery: number;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

export interface SoakReport {
  /** Number of the kill that comes next. */
  readonly next: number;
  readonly acknowledged: number;
  /** What must not be: one line each. */
  readonly failures: readonly string[];
}

/** Members that are killed. */
const NODES = ['us', 'eu'];
/** Members that are not: a verdict needs the word of a quorum of others. */
const OTHERS = ['ca', 'sg', 'jp'];
const CALLERS = 8;
/** So that batches are sealed, anchored and vouched for all the time. In seconds. */
const BATCH_INTERVAL = '0.3';
/** The last records before a kill, asked for after each. */
const LOOKED_AT = 8;
/** Ids read from a store at once. */
const READ_TOGETHER = 1_000;
const CONVERGE_MS = 180_000;

/**
 * Nodes under load of which one after another is killed with SIGKILL at a random moment and started again. After every
 * kill the youngest records are asked for; every so often, and at the end, the stores are proved whole.
 */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  await using cluster = await ClusterProcesses.create();
  const run = new Soak(cluster, options);
  await run.start();
  const next = await run.killAll();
  await run.converge();
  return { next, acknowledged: run.acknowledged, failures: run.failures };
}

class Soak {
  readonly failures: string[] = [];
  readonly #cluster: ClusterProcesses;
  readonly #options: SoakOptions;
  readonly #loads = new Map<string, Load>();
  readonly #variables: Readonly<Record<string, string>>;

  constructor(cluster: ClusterProcesses, options: SoakOptions) {
    this.#cluster = cluster;
    this.#options = options;
    this.#variables = { BATCH_INTERVAL, NODE_COMPILE_CACHE: join(cluster.home, 'compiled') };
  }

  get acknowledged(): number {
    return [...this.#loads.values()].reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
  }

  async start(): Promise<void> {
    const cluster = this.#cluster;
    // A start asks every other member.
    await Promise.all([...NODES, ...OTHERS].map((id) => this.#startNode(id)));
    await cluster.grantKeys(NODES);
    const apiKey = cluster.demoKeys.bench;
    for (const id of NODES) {
      this.#loads.set(id, new Load({ nodeUrl: `${cluster.node(id).baseUrl}/verify`, apiKey }, CALLERS));
    }
    // A node that ends in order leaves its compiled sources to those that start after it.
    await cluster.end('us');
    await this.#startNode('us');
  }

  /** Returns the number of the kill that was not made. */
  async killAll(): Promise<number> {
    const { seed, from, kills, checkEvery, signal, print } = this.#options;
    for (let number = from; number < from + kills; number++) {
      if (signal.aborted || this.failures.length > 0) return number;
      const { node, loadMs, startMs } = plannedKill(seed, number, NODES.length);
      const id = NODES[node] ?? '';
      await this.#killUnderLoad(id, loadMs);
      const done = number - from + 1;
      if (done % checkEvery === 0) await this.#check(id, [id]);
      if (startMs !== null) await this.#killAtStart(id, startMs);
      await this.#startNode(id);
      await this.#askForYoungest(id);
      if (done % checkEvery === 0 || done === kills) {
        print(`${done} of ${kills} kills, ${this.acknowledged} records acknowledged, lost = ${this.failures.length}`);
      }
    }
    return from + kills;
  }

  /** Waits until every node verifies the youngest records of all, then stops them and proves every store whole. */
  async converge(): Promise<void> {
    const { bench } = this.#cluster.demoKeys;
    const youngest = [...this.#loads.values()].flatMap(({ acknowledged }) => acknowledged.slice(-LOOKED_AT));
    const started = performance.now();
    for (const id of NODES) {
      let missing = youngest;
      while (missing.length > 0 && performance.now() - started < CONVERGE_MS) {
        missing = await notVerified(this.#cluster.node(id).baseUrl, missing, bench);
        if (missing.length > 0) await sleep(250);
      }
      if (missing.length > 0) this.failures.push(`${id} does not verify ${missing.join(' ')}`);
    }
    this.#options.print(`all nodes hold everything ${((performance.now() - started) / 1000).toFixed(1)} s later`);
    for (const id of NODES) await this.#cluster.end(id);
    for (const id of NODES) await this.#check(id, NODES);
  }

  #startNode(id: string): Promise<void> {
    return this.#cluster.startNode(id, this.#variables);
  }

  async #killUnderLoad(id: string, loadMs: number): Promise<void> {
    const stop = new AbortController();
    const running = [...this.#loads.values()].map((load) => load.run(stop.signal));
    await sleep(loadMs);
    await this.#cluster.end(id, 'SIGKILL');
    stop.abort();
    await Promise.all(running);
  }

  async #killAtStart(id: string, startMs: number): Promise<void> {
    const starting = this.#startNode(id).catch(() => undefined);
    await Promise.race([starting, sleep(startMs)]);
    await this.#cluster.end(id, 'SIGKILL');
    await starting;
  }

  async #askForYoungest(id: string): Promise<void> {
    const { demoKeys } = this.#cluster;
    for (const record of this.#loads.get(id)?.acknowledged.slice(-LOOKED_AT) ?? []) {
      const answer = await verify(this.#cluster.node(id).baseUrl, record, demoKeys.bench);
      if (answer?.found !== true) this.failures.push(`${id} lost ${record}`);
    }
  }

  /** The store of a node that does not run: whole, and with every acknowledged record of these origins. */
  async #check(id: string, origins: readonly string[]): Promise<void> {
    const home = this.#cluster.nodeHome(id);
    await fsck(home, {
      onFinding: ({ severity, table, key, detail }) => {
        if (severity === 'problem') this.failures.push(`fsck of ${id}: ${table} ${key}: ${detail}`);
      },
    });
    const wanted = origins.flatMap((origin) => this.#loads.get(origin)?.acknowledged ?? []);
    if (new Set(wanted).size < wanted.length) this.failures.push('an id was given twice');
    await inspect(home, async (store) => {
      for (let at = 0; at < wanted.length; at += READ_TOGETHER) {
        const ids = wanted.slice(at, at + READ_TOGETHER);
        const rows = await store.getMany(ids.map((record) => recordIndex.key(record)));
        ids.forEach((record, i) => {
          if (rows[i] === undefined) this.failures.push(`${id} lost ${record}`);
        });
      }
    });
  }
}
