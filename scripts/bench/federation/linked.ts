import { randomBytes } from 'node:crypto';
import pino from 'pino';
import type { NodeContext } from '../../../node/context.ts';
import { openContext } from '../../../node/context.ts';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { recordId } from '../../../protocol/ids.ts';
import { groupStatement } from '../../../protocol/statement/group.ts';
import { decisionBodies } from '../decisions.ts';
import { quietConfig } from '../node-home.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { median } from '../statistics.ts';
import { count, milliseconds } from '../table.ts';
import { longestTask } from '../longest-task.ts';
import { until } from '../until.ts';
import { type ClusterClient, member } from './cluster-client.ts';
import { type FilledCluster, fillCluster } from './filled-cluster.ts';

const FULL = { subjects: 8, beside: 8, repeats: 20, warming: 8, checks: 200 };
const QUICK = { subjects: 3, beside: 2, repeats: 5, warming: 1, checks: 20 };
const OVERRIDES = 32;
const INCIDENTS = 32;
const PATIENCE_MS = 120_000;

/** Processor time of something, of the event loop's thread and of all threads, in milliseconds. */
interface Cost {
  readonly main: number;
  readonly all: number;
}

/** What a stranger can make a node do by naming the one record with the most linked to it. */
export const linked: Part = {
  name: 'linked',
  title: `Verification of a record with ${OVERRIDES + INCIDENTS} linked ones: processor time of one verdict`,
  async run(options): Promise<Result> {
    const { subjects: wanted, beside, repeats, warming, checks } = options.quick ? QUICK : FULL;
    let filled: FilledCluster;
    let warm = '';
    let subjects: readonly string[];
    {
      await using open = await fillCluster(options.home, wanted, options);
      filled = open;
      for (const subject of open.ids) await linkAll(open, subject, { ...options, beside });
      [warm = '', ...subjects] = open.ids;
    }
    const { cluster } = filled;
    const config = quietConfig(cluster.node(0), cluster.plan, cluster.home, cluster.rosterFile);
    const open = () => openContext(config, pino({ level: 'silent' }), { sealsAhead: true, startsUnread: true });
    const checkBefore = await costOfCheck(checks);
    const [first] = await costs(open, [warm]);
    for (let i = 0; i < warming; i++) await costs(open, [warm]);
    const [probed = '', ...measured] = subjects;
    const turn = await longestTaskOf(open, probed);
    const cold = await costs(open, measured);
    // Of the next start nothing is remembered but which signatures held: that is the process's.
    const arrived = await costs(open, measured);
    const after: Cost[] = [];
    let signatures = 0;
    {
      await using context = await open();
      for (const subject of measured) await costOf(context, subject);
      for (let i = 0; i < repeats; i++) for (const subject of measured) after.push(await costOf(context, subject));
      signatures = median(await Promise.all(measured.map((subject) => signaturesOf(context, subject))));
    }
    const check = (checkBefore + (await costOfCheck(checks))) / 2;
    const row = (name: string, found: readonly Cost[], goal: string): string[] => {
      const all = median(found.map((one) => one.all));
      return [name, milliseconds(median(found.map(({ main }) => main))), milliseconds(all), count(all / check), goal];
    };
    return {
      table: [
        ['', 'event loop', 'all threads', 'in signature checks', 'goal'],
        row('the first of the process', first === undefined ? [] : [first], ''),
        row('after a start', cold, '50 ms'),
        row('after a start, signatures checked on arrival', arrived, '25 ms'),
        row('again', after, '5 ms'),
        [`${count(signatures)} signature checks alone`, '', milliseconds(signatures * check), count(signatures), ''],
      ],
      notes: [
        `Medians over ${measured.length} records, each with links of its own in other groups and batches, after one more that`,
        `was verified after ${warming} starts and warms the code. One native check of a signature took ${milliseconds(check)} of`,
        `processor time in this run. Of one more record, after a start, the longest turn of the event loop took`,
        `${milliseconds(turn)} of it. Processor time grows with whatever else the machine does meanwhile.`,
      ],
    };
  },
};

/** Of each record, in a node that was just opened. */
async function costs(open: () => Promise<NodeContext>, subjects: readonly string[]): Promise<readonly Cost[]> {
  await using context = await open();
  const found: Cost[] = [];
  for (const subject of subjects) found.push(await costOf(context, subject));
  return found;
}

async function costOf(context: NodeContext, subject: string): Promise<Cost> {
  const [main, all] = [process.threadCpuUsage(), process.cpuUsage()];
  await verify(context, subject);
  return { main: total(process.threadCpuUsage(main)), all: total(process.cpuUsage(all)) };
}

async function longestTaskOf(open: () => Promise<NodeContext>, subject: string): Promise<number> {
  await using context = await open();
  return await longestTask(() => verify(context, subject));
}

async function verify({ verifier }: NodeContext, subject: string): Promise<void> {
  const found = await verifier.verifyRecord(recordId(subject));
  if (found?.verdict.verified !== true) throw new Error('a record is not verified');
  const { overrides, incidents } = found.links;
  if (overrides !== OVERRIDES || incidents !== INCIDENTS) throw new Error(`${overrides} and ${incidents} linked ones`);
}

/** Signatures that a verdict on a record rests on, its certificate and checkpoints left out. */
async function signaturesOf({ evidence, linked: linkedTo }: NodeContext, subject: string): Promise<number> {
  const own = await evidence(recordId(subject));
  if (own === undefined) throw new Error('a record is gone');
  const { evidence: others, incidents } = await linkedTo(own);
  return new Set(
    [own, ...others, ...incidents].flatMap(({ proof }) => [proof.receipt.signature, proof.batch?.signature]),
  ).size;
}

/** Processor time of one native check of a signature, in milliseconds. */
async function costOfCheck(checks: number): Promise<number> {
  const signer = nativeSigner(randomBytes(32));
  const message = randomBytes(400);
  const { context } = groupStatement;
  const signature = await signer.sign(message, context);
  const before = process.threadCpuUsage();
  for (let i = 0; i < checks; i++) {
    if (!nativeSuite.verify(signer.publicKey, message, signature, context)) {
      throw new Error('a signature does not hold');
    }
  }
  return total(process.threadCpuUsage(before)) / checks;
}

function total({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000;
}

interface LinkOptions extends Pick<BenchOptions, 'say' | 'signal'> {
  /** Other records made with each. */
  readonly beside: number;
}

/** Links records to one, among others, so that they come into groups and batches with those. */
export async function linkAll(
  { cluster, client }: FilledCluster,
  subject: string,
  options: LinkOptions,
): Promise<void> {
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
  await until('the last linked one is confirmed', PATIENCE_MS, options.signal, () =>
    isConfirmed(client, baseUrl, last),
  );
}

async function isConfirmed(client: ClusterClient, baseUrl: string, id: string): Promise<boolean> {
  return member(await client.get(`${baseUrl}/v1/status/${id}`), 'status') === 'confirmed';
}
