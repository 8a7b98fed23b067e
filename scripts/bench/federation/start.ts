import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { readClusterEnvironment } from '../../../cluster/environment.ts';
import { type ClusterFile, readClusterFile } from '../../../cluster/supervisor/cluster-file.ts';
import { decisionBodies } from '../decisions.ts';
import { freePlan } from '../free-plan.ts';
import { healthStatus } from '../health-status.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { count, type TextTable } from '../table.ts';
import { until } from '../until.ts';
import { ClusterClient, member } from './cluster-client.ts';

const COMMAND = join(import.meta.dirname, '../../../cluster/main.ts');
/** Free ports of a plan: its ledger's first, less the offset of that. */
const LEDGER_OFFSET = 301;
/** Between two questions to a node, which is the resolution. In milliseconds. */
const LOOK_MS = 25;
const PATIENCE_MS = 200_000;
const FULL_RECORDS = 500;
const QUICK_RECORDS = 20;
/** Restarts of each kind. */
const FULL_RESTARTS = 3;
const QUICK_RESTARTS = 1;

/** One start of the whole cluster. In milliseconds from the command on. */
interface Start {
  readonly how: string;
  /** The first node answers over HTTP, whatever it says. */
  readonly firstListens: number;
  readonly lastListens: number;
  /** Every node accepts records. */
  readonly ready: number;
  /** The command says that all is ready: keys, lists and samples were given out too. */
  readonly said: number;
}

/**
 * How long the local cluster takes from the command until every node accepts records: empty, stopped in order, and
 * killed.
 */
export const start: Part = {
  name: 'start',
  title: 'Five node processes: from the command to records, at a first start and when all are started again at once',
  async run(options): Promise<Result> {
    const { quick, home, signal, say } = options;
    const starts: Start[] = [];
    const restarts = Array.from({ length: quick ? QUICK_RESTARTS : FULL_RESTARTS });
    const note = (made: Start) => {
      say(`${made.how}: last listens after ${seconds(made.lastListens)}, all ready after ${seconds(made.ready)}`);
      starts.push(made);
    };
    const command = await Command.open(home);
    try {
      note(await command.start('first start', signal));
      const records = quick ? QUICK_RECORDS : FULL_RECORDS;
      await record(await command.file(), records, options);
      for (const _ of restarts) {
        await command.stop();
        note(await command.start('stopped in order', signal));
      }
      for (const _ of restarts) {
        await command.kill();
        note(await command.start('all killed at once', signal));
      }
      return {
        table: tableOf(starts),
        notes: [
          '`npm start`: eight processes of one machine. Listens: the first answer over HTTP, whatever it says; ready: 200 from',
          `/v1/health. Each node is asked every ${LOOK_MS} ms, which is the resolution. Before it is started again every node holds`,
          `${count(records)} confirmed records of each.`,
        ],
      };
    } finally {
      await command.kill();
    }
  },
};

/** The local cluster as a process of its own, started again and again in one home. */
class Command {
  readonly #home: string;
  readonly #portBase: number;
  readonly #baseUrls: readonly string[];
  #running: ChildProcess | undefined;

  private constructor(home: string, portBase: number, baseUrls: readonly string[]) {
    this.#home = home;
    this.#portBase = portBase;
    this.#baseUrls = baseUrls;
  }

  static async open(home: string): Promise<Command> {
    const { nodes, ledgerPorts } = await freePlan(5);
    const portBase = (ledgerPorts[0] ?? 0) - LEDGER_OFFSET;
    return new Command(
      home,
      portBase,
      nodes.map(({ baseUrl }) => baseUrl),
    );
  }

  async start(how: string, signal: AbortSignal): Promise<Start> {
    const began = performance.now();
    const passed = () => performance.now() - began;
    // Sources compiled by an earlier start are found here too: anyone who starts a second time has them.
    const { inherited } = readClusterEnvironment();
    const child = spawn(process.execPath, [COMMAND, `--port-base=${this.#portBase}`], {
      env: { ...inherited, NODE_COMPILE_CACHE: join(this.#home, 'compiled'), MERIDIAN_HOME: this.#home },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#running = child;
    const over = new AbortController();
    const ending = AbortSignal.any([signal, over.signal, AbortSignal.timeout(PATIENCE_MS)]);
    const ended = once(child, 'exit', { signal: ending }).then(() => {
      throw new Error('the local cluster ended before it was ready');
    });
    ended.catch(() => undefined);
    const said = new Promise<number>((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        if (line === 'meridian: ready') resolve(passed());
      });
    });
    const nodes = Promise.all(this.#baseUrls.map((url) => arrival(url, passed, ending)));
    nodes.catch(() => undefined);
    try {
      const arrivals = await Promise.race([nodes, ended]);
      const listens = arrivals.map((one) => one.listens);
      return {
        how,
        firstListens: Math.min(...listens),
        lastListens: Math.max(...listens),
        ready: Math.max(...arrivals.map((one) => one.ready)),
        said: await Promise.race([said, ended]),
      };
    } finally {
      over.abort();
    }
  }

  file(): Promise<ClusterFile> {
    return readClusterFile(this.#home);
  }

  /** Has every process end in order. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** What a power failure does: no process has a say. */
  async kill(): Promise<void> {
    if (this.#running?.exitCode !== null || this.#running.signalCode !== null) return;
    const file = await this.file().catch(() => null);
    const parts = file === null ? [] : [...file.nodes, file.ledger, file.chain, file.mail];
    const ended = this.#end('SIGKILL');
    for (const part of parts) if (part !== null && part.pid !== null) endPart(part.pid);
    await ended;
  }

  async #end(how: NodeJS.Signals): Promise<void> {
    const child = this.#running;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(how);
    await gone;
  }
}

/** Times at which a node answered first, and accepted records first. */
async function arrival(
  baseUrl: string,
  passed: () => number,
  signal: AbortSignal,
): Promise<{ readonly listens: number; readonly ready: number }> {
  let listens: number | undefined;
  for (;;) {
    const status = await healthStatus(baseUrl);
    if (status !== null) listens ??= passed();
    if (listens !== undefined && status === 200) return { listens, ready: passed() };
    await sleep(LOOK_MS, undefined, { signal });
  }
}

/** So many records at every node, confirmed. */
async function record({ nodes, demo }: ClusterFile, records: number, { signal, say }: BenchOptions): Promise<void> {
  using client = new ClusterClient(demo.apiKeys.bench);
  const last = await Promise.all(
    nodes.map(async ({ baseUrl }) => {
      const ids: string[] = [];
      for (const body of decisionBodies(records)) ids.push(await client.attest(baseUrl, body));
      return ids.at(-1) ?? '';
    }),
  );
  await until('every node confirms the last record of each', PATIENCE_MS, signal, async () => {
    for (const { baseUrl } of nodes) {
      for (const id of last) {
        if (member(await client.get(`${baseUrl}/v1/verify/${id}`), 'verified') !== true) return false;
      }
    }
    return true;
  });
  say(`${count(records)} records of each node are confirmed at all`);
}

function endPart(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}

function tableOf(starts: readonly Start[]): TextTable {
  return [
    ['', 'first listens', 'last listens', 'all ready', 'last listens → all ready', 'said ready'],
    ...starts.map(({ how, firstListens, lastListens, ready, said }) => [
      how,
      seconds(firstListens),
      seconds(lastListens),
      seconds(ready),
      seconds(ready - lastListens),
      seconds(said),
    ]),
  ];
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(2)} s`;
}
