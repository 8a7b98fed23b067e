import { decisionBodies } from '../decisions.ts';
import { LocalCluster } from '../local-cluster.ts';
import type { BenchOptions } from '../part.ts';
import { count } from '../table.ts';
import { until } from '../until.ts';
import { ClusterClient, member } from './cluster-client.ts';
import { allHold } from './heads.ts';

/** Requests under way at a time. */
const IN_FLIGHT = 100;
const BODIES = 200;
const PATIENCE_MS = 120_000;

/** A local cluster whose first node has made `records` records, all of them confirmed and held by all five nodes. */
export interface FilledCluster extends AsyncDisposable {
  readonly cluster: LocalCluster;
  readonly client: ClusterClient;
  readonly ids: readonly string[];
}

/** `variables`: of every process, beside those of the plan. */
export async function fillCluster(
  home: string,
  records: number,
  { say, signal }: Pick<BenchOptions, 'say' | 'signal'>,
  variables: Readonly<Record<string, string>> = {},
): Promise<FilledCluster> {
  await using filling = new AsyncDisposableStack();
  const cluster = filling.use(await LocalCluster.start(home, 5, variables));
  const client = filling.use(new ClusterClient(cluster.apiKey));
  const origin = cluster.node(0);
  const ids = await attestAll(client, origin.baseUrl, records, signal);
  say(`${count(ids.length)} records accepted`);
  await until('every node holds every record', PATIENCE_MS, signal, () => allHold(client, cluster, origin.id, records));
  const last = ids.at(-1) ?? '';
  await until('the last record is confirmed', PATIENCE_MS, signal, async () => {
    return member(await client.get(`${origin.baseUrl}/v1/status/${last}`), 'status') === 'confirmed';
  });
  const filled = filling.move();
  return { cluster, client, ids, [Symbol.asyncDispose]: () => filled.disposeAsync() };
}

async function attestAll(
  client: ClusterClient,
  baseUrl: string,
  records: number,
  signal: AbortSignal,
): Promise<string[]> {
  const bodies = decisionBodies(BODIES);
  const ids: string[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < records) {
      signal.throwIfAborted();
      const body = bodies[next++ % BODIES] ?? {};
      ids.push(await client.attest(baseUrl, body));
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return ids;
}
