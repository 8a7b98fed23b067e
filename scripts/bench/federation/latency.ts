import { setTimeout as sleep } from 'node:timers/promises';
import { decisionBodies } from '../decisions.ts';
import { LocalCluster } from '../local-cluster.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { percentile } from '../statistics.ts';
import { count, milliseconds, type TextTable } from '../table.ts';
import { ClusterClient } from './cluster-client.ts';
import { sealedRecords } from './heads.ts';

const FULL_RECORDS = 20;
const QUICK_RECORDS = 3;
/** Longest pause between two records, so that they fall anywhere in a batch interval. In milliseconds. */
const MAX_PAUSE_MS = 700;
/** Between two questions to one node, in milliseconds. */
const LOOK_MS = 5;
const PATIENCE_MS = 30_000;

/** Milliseconds of one record from the moment its caller had the answer. */
interface Journey {
  readonly sealed: number;
  readonly everywhere: number;
}

/** How long until all five nodes hold a record's batch, and until the ledger has confirmed it. */
export const latency: Part = {
  name: 'latency',
  title: 'Five node processes: from an accepted record to all nodes, and to the ledger',
  async run(options): Promise<Result> {
    await using cluster = await LocalCluster.start(options.home, 5);
    using client = new ClusterClient(cluster.apiKey);
    const journeys = await travel(cluster, client, options);
    const confirmed = await confirm(cluster, client, options);
    return {
      table: tableOf(journeys, confirmed),
      notes: [
        `${journeys.length} records one by one. A batch is sealed a second after its first record. Each node is asked for its heads`,
        `every ${LOOK_MS} ms, which is the resolution. Confirmed: POST /v1/tiered-attest with Prefer: wait, the whole call, until the`,
        'anchor was read back from the ledger’s mirror. The local ledger answers in milliseconds, a public one in seconds.',
      ],
    };
  },
};

async function travel(
  cluster: LocalCluster,
  client: ClusterClient,
  { quick, say, signal }: BenchOptions,
): Promise<Journey[]> {
  const journeys: Journey[] = [];
  const origin = cluster.node(0);
  // The first record warms the way up.
  const bodies = decisionBodies((quick ? QUICK_RECORDS : FULL_RECORDS) + 1);
  for (const [i, body] of bodies.entries()) {
    await client.attest(origin.baseUrl, body);
    const accepted = performance.now();
    const reached = cluster.plan.nodes.map(async ({ baseUrl }) => {
      const deadline = accepted + PATIENCE_MS;
      while ((await sealedRecords(client, baseUrl, origin.id)) <= i) {
        if (performance.now() > deadline) throw new Error(`${baseUrl} does not hold record ${i + 1}`);
        await sleep(LOOK_MS, undefined, { signal });
      }
      return performance.now() - accepted;
    });
    const times = await Promise.all(reached);
    const journey = { sealed: times[0] ?? Number.NaN, everywhere: Math.max(...times) };
    if (i > 0) journeys.push(journey);
    say(`sealed after ${milliseconds(journey.sealed)}, everywhere after ${milliseconds(journey.everywhere)}`);
    await sleep(Math.random() * MAX_PAUSE_MS, undefined, { signal });
  }
  return journeys;
}

async function confirm(
  cluster: LocalCluster,
  client: ClusterClient,
  { quick, say, signal }: BenchOptions,
): Promise<number[]> {
  const times: number[] = [];
  for (const body of decisionBodies(quick ? QUICK_RECORDS : FULL_RECORDS)) {
    const started = performance.now();
    await client.attest(cluster.node(0).baseUrl, body, { prefer: 'wait=30' });
    times.push(performance.now() - started);
    say(`confirmed after ${milliseconds(times.at(-1) ?? 0)}`);
    await sleep(Math.random() * MAX_PAUSE_MS, undefined, { signal });
  }
  return times;
}

function tableOf(journeys: readonly Journey[], confirmed: readonly number[]): TextTable {
  const row = (name: string, values: readonly number[]) => [
    name,
    count(values.length),
    milliseconds(percentile(values, 0.5)),
    milliseconds(percentile(values, 0.99)),
  ];
  return [
    ['', 'records', 'p50', 'p99'],
    row(
      'accepted → sealed at its node',
      journeys.map(({ sealed }) => sealed),
    ),
    row(
      'sealed → all five nodes',
      journeys.map(({ sealed, everywhere }) => everywhere - sealed),
    ),
    row(
      'accepted → all five nodes',
      journeys.map(({ everywhere }) => everywhere),
    ),
    row('sent → confirmed on the ledger', confirmed),
  ];
}
