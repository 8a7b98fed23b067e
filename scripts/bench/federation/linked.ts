import pino from 'pino';
import type { NodeContext } from '../../../node/context.ts';
import { openContext } from '../../../node/context.ts';
import { recordId } from '../../../protocol/ids.ts';
import { decisionBodies } from '../decisions.ts';
import { quietConfig } from '../node-home.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { median } from '../statistics.ts';
import { milliseconds } from '../table.ts';
import { until } from '../until.ts';
import { type ClusterClient, member } from './cluster-client.ts';
import { type FilledCluster, fillCluster } from './filled-cluster.ts';

const FULL = { subjects: 8, beside: 8, repeats: 20 };
const QUICK = { subjects: 3, beside: 2, repeats: 5 };
const OVERRIDES = 32;
const INCIDENTS = 32;
const PATIENCE_MS = 120_000;

/** Processor time of one verdict on a record with 64 linked ones, of the event loop's thread and of all threads. */
interface Cost {
  readonly main: number;
  readonly all: number;
}

/** What a stranger can make a node do by naming the one record with the most linked to it. */
export const linked: Part = {
  name: 'linked',
  title: `Verification of a record with ${OVERRIDES + INCIDENTS} linked ones: processor time of one verdict`,
  async run(options): Promise<Result> {
    const { subjects: wanted, repeats } = options.quick ? QUICK : FULL;
    let filled: FilledCluster;
    let subjects: readonly string[];
    {
      await using open = await fillCluster(options.home, wanted, options);
      filled = open;
      subjects = open.ids;
      const { beside } = options.quick ? QUICK : FULL;
      for (const subject of subjects) await linkAll(open, subject, { ...options, beside });
    }
    const { cluster } = filled;
    const config = quietConfig(cluster.node(0), cluster.plan, cluster.home, cluster.rosterFile);
    const open = () => openContext(config, pino({ level: 'silent' }), { sealsAhead: true, startsUnread: true });
    const cold = await costs(open, subjects);
    // Of the next start nothing is remembered but which signatures held: that is the process's.
    const arrived = await costs(open, subjects);
    const after: Cost[] = [];
    {
      await using context = await open();
      for (const subject of subjects) await costOf(context, subject);
      for (let i = 0; i < repeats; i++) for (const subject of subjects) after.push(await costOf(context, subject));
    }
    const row = (name: string, found: readonly Cost[], goal: number): string[] => [
      name,
      milliseconds(median(found.map(({ main }) => main))),
      milliseconds(median(found.map(({ all }) => all))),
      `${goal} ms`,
    ];
    return {
      table: [
        ['', 'event loop', 'all threads', 'goal'],
        row('after a start', cold, 50),
        row('after a start, signatures checked on arrival', arrived, 25),
        row('again', after, 5),
      ],
      notes: [
        `Medians over ${wanted - 1} records, each with links of its own in other groups and batches, after one more that`,
        'warms the code. Processor time grows with whatever else the machine does meanwhile: compare only on a quiet one.',
      ],
    };
  },
};

async function costs(open: () => Promise<NodeContext>, subjects: readonly string[]): Promise<readonly Cost[]> {
  await using context = await open();
  const found: Cost[] = [];
  for (const subject of subjects) found.push(await costOf(context, subject));
  return found.slice(1);
}

async function costOf({ verifier }: NodeContext, subject: string): Promise<Cost> {
  const [main, all] = [process.threadCpuUsage(), process.cpuUsage()];
  const found = await verifier.verifyRecord(recordId(subject));
  const [mainUsed, allUsed] = [process.threadCpuUsage(main), process.cpuUsage(all)];
  if (found?.verdict.verified !== true) throw new Error('a record is not verified');
  const { overrides, incidents } = found.links;
  if (overrides !== OVERRIDES || incidents !== INCIDENTS) throw new Error(`${overrides} and ${incidents} linked ones`);
  return { main: (mainUsed.user + mainUsed.system) / 1000, all: (allUsed.user + allUsed.system) / 1000 };
}

interface LinkOptions extends Pick<BenchOptions, 'say' | 'signal'> {
  /** Other records made with each. */
  readonly beside: number;
}

/** Links records to one, among others, so that they come into groups and batches with those. */
export async function linkAll({ cluster, client }: FilledCluster, subject: string, options: LinkOptions): Promise<void> {
  const { baseUrl } = cluster.node(0);
  const bodies = decisionBodies(options.beside);
  const send = async (path: string, body: object) => {
    const others = bodies.map((other) => client.attest(baseUrl, other));
    const [made] = await Promise.all([client.post(`${baseUrl}${path}`, body), ...others]);
    return String(member(made, 'attestationId'));
  };
  let last = '';
  for (let i = 0; i < OVERRIDES; i++) {
    options.signal.throwIfAborted();
    const override = { sourceId: 'loans', originalAttestationId: subject, reviewerId: `reviewer ${i}` };
    last = await send('/v1/human-override', { ...override, overrideDecision: 'approve' });
  }
  for (let i = 0; i < INCIDENTS; i++) {
    options.signal.throwIfAborted();
    const incident = { sourceId: 'loans', severity: 'serious', description: 'd', relatedAttestationIds: [subject] };
    last = await send('/v1/incident', { ...incident, incidentPeriodStart: '2026-01-01T00:00:00Z' });
  }
  options.say('a record has its linked ones');
  await until('the last linked one is confirmed', PATIENCE_MS, options.signal, () => isConfirmed(client, baseUrl, last));
}

async function isConfirmed(client: ClusterClient, baseUrl: string, id: string): Promise<boolean> {
  return member(await client.get(`${baseUrl}/v1/status/${id}`), 'status') === 'confirmed';
}
