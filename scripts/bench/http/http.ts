import { join } from 'node:path';
import { Forked } from '../forked.ts';
import { LocalCluster } from '../local-cluster.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { median } from '../statistics.ts';
import { count, microseconds, milliseconds, ratio } from '../table.ts';
import type { BatchForm } from './load-forms.ts';
import { BATCH_ROUTE, pidOf, portOf, type Round, ROUTE, runLoad, sampleAnswer, type Target } from './round.ts';

const CONNECTIONS = [1, 100, 400];
const BATCH_RECORDS = 1_000;
/** Connections that each have one batch under way. */
const BATCH_CONNECTIONS = 4;
/** Least length of a round of batches, of which few are answered a second. In seconds. */
const BATCH_SECONDS = 4;
/** A figure that a row has not. */
const NONE = '–';
/** Alternating rounds a number of connections, and their length in seconds. */
const FULL = { rounds: 5, seconds: 5, warmUp: 4 };
const RATES = ['node', 'bare', 'ratio', 'p50', 'bare', 'p99', 'bare', 'ratio'];
const HEAD = ['connections', ...RATES, 'main', 'bare', 'ratio', 'all', 'bare', 'ratio'];
const QUICK = { rounds: 1, seconds: 1, warmUp: 2 };

interface Pair {
  readonly node: Round;
  readonly bare: Round;
}

/** HTTP records a second of one node process beside a bare Koa answer, in alternating rounds. */
export const http: Part = {
  name: 'http',
  title: 'HTTP: one node process beside a bare Koa answer of the same size',
  async run(options): Promise<Result> {
    await using cluster = await LocalCluster.start(options.home, 1);
    const { apiKey } = cluster;
    const node: Target = { url: cluster.node(0).baseUrl + ROUTE, apiKey, pid: pidOf(cluster.file.nodes[0]) };
    const answer = await sampleAnswer(node);
    await using baseline = new Forked(join(import.meta.dirname, 'baseline.ts'), [answer]);
    const bare: Target = {
      url: `http://127.0.0.1:${portOf(await baseline.ask())}${ROUTE}`,
      apiKey,
      pid: pidOf(baseline),
    };
    await using load = new Forked(join(import.meta.dirname, 'load.ts'));
    const { rows, failed } = await measure(load, node, bare, options);
    const batches = { ...node, url: cluster.node(0).baseUrl + BATCH_ROUTE };
    const bulk = await measureBatches(load, batches, options);
    return {
      table: [HEAD, ...rows, ...bulk.rows],
      notes: [
        `Medians of alternating rounds; ratios are medians of the ratios of paired rounds. ${failed + bulk.failed} requests failed.`,
        `List and lines: ${BATCH_RECORDS} such bodies a request; records a second, and processor time a record.`,
        `Answers of ${answer.length} bytes. The node checks the key and the body, commits to the payload, encrypts it, signs,`,
        'syncs, seals a batch a second and anchors it on the local ledger. Load, server and ledger share the cores.',
        'Main and all: processor time a record, of the main thread and of all threads of the process that answers.',
      ],
    };
  },
};

async function measure(
  load: Forked,
  node: Target,
  bare: Target,
  { quick, say, signal }: BenchOptions,
): Promise<{ rows: string[][]; failed: number }> {
  const { rounds, seconds, warmUp } = quick ? QUICK : FULL;
  const rows: string[][] = [];
  let failed = 0;
  for (const target of [node, bare]) await runLoad(load, target, 100, warmUp);
  for (const connections of CONNECTIONS) {
    const pairs: Pair[] = [];
    for (let round = 0; round < rounds; round++) {
      signal.throwIfAborted();
      const pair = {
        node: await runLoad(load, node, connections, seconds),
        bare: await runLoad(load, bare, connections, seconds),
      };
      pairs.push(pair);
      failed += pair.node.failed + pair.bare.failed;
      say(`${connections} connections: node ${count(pair.node.perSecond)}/s, bare ${count(pair.bare.perSecond)}/s`);
    }
    rows.push(rowOf(connections, pairs));
  }
  return { rows, failed };
}

function rowOf(connections: number, pairs: readonly Pair[]): string[] {
  const of = (side: keyof Pair, figure: keyof Round) => median(pairs.map((pair) => pair[side][figure]));
  const paired = (figure: keyof Round) => median(pairs.map((pair) => pair.node[figure] / pair.bare[figure]));
  return [
    String(connections),
    `${count(of('node', 'perSecond'))}/s`,
    `${count(of('bare', 'perSecond'))}/s`,
    ratio(paired('perSecond')),
    milliseconds(of('node', 'p50')),
    milliseconds(of('bare', 'p50')),
    milliseconds(of('node', 'p99')),
    milliseconds(of('bare', 'p99')),
    ratio(paired('p99')),
    ...(['main', 'all'] as const).flatMap((figure) => [
      microseconds(of('node', figure)),
      microseconds(of('bare', figure)),
      ratio(paired(figure)),
    ]),
  ];
}

/** Many records a request: as a list, and one a line. */
async function measureBatches(
  load: Forked,
  node: Target,
  { quick, say, signal }: BenchOptions,
): Promise<{ rows: string[][]; failed: number }> {
  const { rounds, seconds, warmUp } = quick ? QUICK : FULL;
  const forms = ['list', 'lines'] as const;
  const seen = new Map<BatchForm, Round[]>(forms.map((form) => [form, []]));
  const run = (form: BatchForm, length: number) =>
    runLoad(load, { ...node, form, batch: BATCH_RECORDS }, BATCH_CONNECTIONS, length);
  for (const form of forms) await run(form, Math.max(warmUp, BATCH_SECONDS));
  for (let round = 0; round < rounds; round++) {
    for (const form of forms) {
      signal.throwIfAborted();
      const answered = await run(form, Math.max(seconds, BATCH_SECONDS));
      seen.get(form)?.push(answered);
      say(`${form} of ${BATCH_RECORDS}: ${count(answered.perSecond)} records/s`);
    }
  }
  const all = [...seen.values()].flat();
  return {
    rows: [...seen].map(([form, of]) => batchRowOf(form, of)),
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
  };
}

function batchRowOf(form: BatchForm, rounds: readonly Round[]): string[] {
  const of = (figure: keyof Round) => median(rounds.map((round) => round[figure]));
  const [p50, p99] = [milliseconds(of('p50')), milliseconds(of('p99'))];
  const [main, all] = [microseconds(of('main')), microseconds(of('all'))];
  const rate = `${count(of('perSecond'))}/s`;
  const label = `${BATCH_CONNECTIONS}, ${form} of ${BATCH_RECORDS}`;
  return [label, rate, NONE, NONE, p50, NONE, p99, NONE, NONE, main, NONE, NONE, all, NONE, NONE];
}
