import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ClusterClient } from '../federation/cluster-client.ts';
import { Forked } from '../forked.ts';
import { BATCH_ROUTE, measureRound, pidOf, portOf, ROUTE, runLoad, sampleAnswer, type Target } from '../http/round.ts';
import { LocalCluster } from '../local-cluster.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import type { AppendQuestion } from './append-forms.ts';
import { requireRecorded } from './bulk-route.ts';
import { count } from '../table.ts';
import { buildTessera, TesseraLog } from './tessera.ts';
import { compare, type Comparison, HEAD, type Way } from './ways.ts';

const CONNECTIONS = [1, 100, 400];
const FULL = { rounds: 5, seconds: 5, warmUp: 4 };
const QUICK = { rounds: 1, seconds: 1, warmUp: 1 };
const WARM_UP_CONNECTIONS = 100;
/** Records of a request in bulk, which is the most that a node takes, and connections that send them. */
const BULK_RECORDS = 1_000;
const BULK_CONNECTIONS = 4;
/** Records of one append in bulk, where there is no HTTP. */
const APPEND_RECORDS = 256;
/** Longest that a record waits in Tessera for its batch to fill. In milliseconds. */
const TESSERA_BATCHES_MS = [5, 100];

const NODE = 'one node';
const BARE = 'bare Koa answer';
const HYPERCORE = 'Hypercore 11';
const TESSERA = 'Tessera POSIX';
const HTTP_DIRECTORY = join(import.meta.dirname, '../http');

/** A server that takes the same records over HTTP. */
interface Peer extends Pick<Way, 'server' | 'hasMainThread'> {
  readonly target: Target;
}

/** One node process beside what else takes records over HTTP, and beside logs in process, all under the same load. */
export const peers: Part = {
  name: 'peers',
  title: 'Beside others: one node process, a bare Koa answer, Hypercore 11 and Tessera POSIX',
  async run(options): Promise<Result> {
    const { home, quick } = options;
    await using running = new AsyncDisposableStack();
    const cluster = running.use(await LocalCluster.start(join(home, 'cluster'), 1));
    const { apiKey } = cluster;
    const { baseUrl } = cluster.node(0);
    const node: Target = { url: baseUrl + ROUTE, apiKey, pid: pidOf(cluster.file.nodes[0]) };
    const answer = await sampleAnswer(node);
    const bare = running.use(new Forked(join(HTTP_DIRECTORY, 'baseline.ts'), [answer]));
    const hypercore = running.use(
      new Forked(join(import.meta.dirname, 'hypercore-process.ts'), [join(home, 'hypercore')]),
    );
    const forked = async (process: Forked): Promise<Target> => targetOf(portOf(await process.ask()), process, apiKey);
    const tessera = await startTessera(options, apiKey, running);
    const all: readonly Peer[] = [
      { server: NODE, hasMainThread: true, target: node },
      { server: BARE, hasMainThread: true, target: await forked(bare) },
      { server: HYPERCORE, hasMainThread: true, target: await forked(hypercore) },
      ...tessera.logs,
    ];
    const load = running.use(new Forked(join(HTTP_DIRECTORY, 'load.ts')));
    const { warmUp, ...rounds } = quick ? QUICK : FULL;
    for (const { target } of all) await runLoad(load, target, WARM_UP_CONNECTIONS, warmUp);
    const comparisons = [
      ...CONNECTIONS.map((connections) => overHttp(load, all, connections)),
      await inBulk(load, node, baseUrl, hypercore),
    ];
    const rows: string[][] = [];
    let failed = 0;
    for (const comparison of comparisons) {
      const compared = await compare(comparison, rounds, options);
      rows.push(...compared.rows);
      failed += compared.failed;
    }
    return { table: [HEAD, ...rows], notes: notesOf(answer.length, failed, tessera) };
  },
};

function targetOf(port: number, process: { readonly pid?: number | undefined }, apiKey: string): Target {
  return { url: `http://127.0.0.1:${port}${ROUTE}`, apiKey, pid: pidOf(process) };
}

interface Tessera {
  readonly logs: readonly Peer[];
  /** Null where they run. */
  readonly skipped: string | null;
}

/** A log for each length of a batch; none where the program cannot be built here, and why. */
async function startTessera(
  { home, signal, say }: BenchOptions,
  apiKey: string,
  running: AsyncDisposableStack,
): Promise<Tessera> {
  const directory = join(home, 'tessera');
  await mkdir(directory);
  say('building Tessera');
  const build = await buildTessera(directory, signal);
  if ('skipped' in build) {
    say(`SKIPPED: ${TESSERA}: ${build.skipped}`);
    return { logs: [], skipped: build.skipped };
  }
  const logs: Peer[] = [];
  for (const batchMs of TESSERA_BATCHES_MS) {
    const log = running.use(await TesseraLog.start(build.program, join(directory, `${batchMs}-ms`), batchMs));
    const server = `${TESSERA}, batches of ${batchMs} ms`;
    logs.push({ server, hasMainThread: false, target: targetOf(log.port, log, apiKey) });
  }
  return { logs, skipped: null };
}

function overHttp(load: Forked, all: readonly Peer[], connections: number): Comparison {
  const ways = all.map(({ target, ...server }) => {
    return { ...server, pid: target.pid, run: (seconds: number) => runLoad(load, target, connections, seconds) };
  });
  return { load: connections === 1 ? '1 connection' : `${connections} connections`, ways };
}

/** Our batches over HTTP beside a log in process. */
async function inBulk(load: Forked, node: Target, baseUrl: string, hypercore: Forked): Promise<Comparison> {
  using client = new ClusterClient(node.apiKey);
  await requireRecorded(client, baseUrl, BULK_RECORDS);
  const target = { ...node, url: baseUrl + BATCH_ROUTE, batch: BULK_RECORDS };
  const ours: Way = {
    server: NODE,
    pid: node.pid,
    hasMainThread: true,
    run: (seconds) => runLoad(load, target, BULK_CONNECTIONS, seconds),
  };
  const pid = pidOf(hypercore);
  const theirs: Way = {
    server: `${HYPERCORE}, in process`,
    pid,
    hasMainThread: true,
    run(seconds) {
      const question: AppendQuestion = { batch: APPEND_RECORDS, seconds };
      return measureRound(pid, () => hypercore.ask(question));
    },
  };
  return { load: 'bulk', ways: [ours, theirs] };
}

function notesOf(answerBytes: number, failed: number, { skipped }: Tessera): string[] {
  return [
    'Medians of alternating rounds; node ÷ it: medians of the ratios of paired rounds, of records a second, p99 and all',
    `threads. ${count(failed)} requests failed. Main and all: processor time a record, of the thread that runs the event loop and of`,
    'all threads of the process. Resident: with pages of mapped files. Load, servers and ledger share the cores.',
    `The node answers ${answerBytes} bytes, and so does the bare answer; the logs answer the index. The node checks key and body,`,
    'commits to the payload, encrypts it, signs, syncs, seals a batch a second and anchors it. Hypercore, behind the same Koa',
    'as the bare answer, signs and appends each body by itself and does not sync. Tessera, behind the HTTP of Go, does not parse',
    `the body, syncs its files and signs a checkpoint a second. Bulk: the node over HTTP, ${count(BULK_RECORDS)} records a request and`,
    `${BULK_CONNECTIONS} connections; Hypercore in process, appends of ${APPEND_RECORDS} one after the other. p50 and p99 there are of a request`,
    'and of an append.',
    ...(skipped === null ? [] : [`SKIPPED: ${TESSERA}: ${skipped}.`]),
  ];
}
