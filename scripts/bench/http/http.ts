import { join } from 'node:path';
import { decisionBodies } from '../decisions.ts';
import { Forked } from '../forked.ts';
import { LocalCluster } from '../local-cluster.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { processorTime } from '../processor-time.ts';
import { median } from '../statistics.ts';
import { count, microseconds, milliseconds, ratio } from '../table.ts';
import { BATCH_RECORDS, isLoadAnswer, type LoadAnswer, type LoadForm, type LoadQuestion } from './load-forms.ts';

const CONNECTIONS = [1, 100, 400];
const ROUTE = '/v1/tiered-attest';
const BATCH_ROUTE = '/v1/tiered-attest-batch';
/** Connections that each have one batch under way. */
const BATCH_CONNECTIONS = 4;
/** A figure that a row has not. */
const NONE = '–';
/** Alternating rounds a number of connections, and their length in seconds. */
const FULL = { rounds: 5, seconds: 5, warmUp: 4 };
const RATES = ['node', 'bare', 'ratio', 'p50', 'bare', 'p99', 'bare', 'ratio'];
const HEAD = ['connections', ...RATES, 'main', 'bare', 'ratio', 'all', 'bare', 'ratio'];
const QUICK = { rounds: 1, seconds: 1, warmUp: 2 };

interface Target extends Pick<LoadQuestion, 'form' | 'url' | 'apiKey'> {
  /** Of the process that answers. */
  readonly pid: number;
}

/** What a round of load saw, and what the process that answered it took of the processor. */
interface Round extends LoadAnswer {
  /** Microseconds an answer, of the main thread and of all threads. */
  readonly main: number;
  readonly all: number;
}

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
    const node: Target = { form: 'one', url: cluster.node(0).baseUrl + ROUTE, apiKey, pid: pidOf(cluster.file.nodes[0]) };
    const answer = await sampleAnswer(node);
    await using baseline = new Forked(join(import.meta.dirname, 'baseline.ts'), [answer]);
    const bare: Target = { form: 'one', url: `http://127.0.0.1:${portOf(await baseline.ask())}${ROUTE}`, apiKey, pid: pidOf(baseline) };
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
        'Main and all: processor time an answer, of the main thread and of all threads of the process that answers.',
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
  const seen = new Map<LoadForm, Round[]>(forms.map((form) => [form, []]));
  for (const form of forms) await runLoad(load, { ...node, form }, BATCH_CONNECTIONS, warmUp / 2);
  for (let round = 0; round < rounds; round++) {
    for (const form of forms) {
      signal.throwIfAborted();
      const answered = await runLoad(load, { ...node, form }, BATCH_CONNECTIONS, seconds);
      seen.get(form)?.push(answered);
      say(`${form} of ${BATCH_RECORDS}: ${count(answered.perSecond * BATCH_RECORDS)} records/s`);
    }
  }
  const all = [...seen.values()].flat();
  return {
    rows: [...seen].map(([form, of]) => batchRowOf(form, of)),
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
  };
}

function batchRowOf(form: LoadForm, rounds: readonly Round[]): string[] {
  const of = (figure: keyof Round) => median(rounds.map((round) => round[figure]));
  const [p50, p99] = [milliseconds(of('p50')), milliseconds(of('p99'))];
  const [main, all] = [microseconds(of('main') / BATCH_RECORDS), microseconds(of('all') / BATCH_RECORDS)];
  const rate = `${count(of('perSecond') * BATCH_RECORDS)}/s`;
  const label = `${BATCH_CONNECTIONS}, ${form} of ${BATCH_RECORDS}`;
  return [label, rate, NONE, NONE, p50, NONE, p99, NONE, NONE, main, NONE, NONE, all, NONE, NONE];
}

async function runLoad(load: Forked, { pid, ...target }: Target, connections: number, seconds: number): Promise<Round> {
  const before = await processorTime(pid);
  const answer = await load.ask({ ...target, connections, seconds });
  if (!isLoadAnswer(answer)) throw new Error('the load process answered something else');
  const after = await processorTime(pid);
  const { answers } = answer;
  return { ...answer, main: (after.main - before.main) / answers, all: (after.all - before.all) / answers };
}

/** A real answer of the node, for the baseline to repeat. */
async function sampleAnswer({ url, apiKey }: Target): Promise<string> {
  const [body] = decisionBodies(1);
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the node answered ${response.status}: ${text}`);
  return text;
}

function pidOf(process: { readonly pid?: number | null | undefined } | undefined): number {
  if (typeof process?.pid !== 'number') throw new Error('there is no process to measure');
  return process.pid;
}

function portOf(answer: unknown): number {
  if (typeof answer === 'object' && answer !== null && 'port' in answer && typeof answer.port === 'number') {
    return answer.port;
  }
  throw new Error('the baseline did not say where it is');
}
