import pino from 'pino';
import { startApp } from '../../../node/app.ts';
import type { NodeConfig } from '../../../node/config/config.ts';
import { type NodeContext, openContext } from '../../../node/context.ts';
import { decisionDrafts, roundRobin } from '../drafts.ts';
import { makeHomes } from '../node-home.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { count, milliseconds } from '../table.ts';
import { until } from '../until.ts';

const FULL_RECORDS = 40_000;
const QUICK_RECORDS = 2_000;
/** Records of a sealed batch, and how many of them intake is given at a time; its largest groups have fewer. */
const BATCH_RECORDS = 4_000;
const IN_FLIGHT = 400;
const DRAFTS = 200;
const PATIENCE_MS = 120_000;

/** Records a second that a node with an empty store takes from a peer, each checked before it is stored. */
export const catchUp: Part = {
  name: 'catch-up',
  title: 'Catch-up: an empty node pulls a chain from a peer',
  async run(options): Promise<Result> {
    const records = options.quick ? QUICK_RECORDS : FULL_RECORDS;
    const [origin, newcomer] = await makeHomes(options.home);
    if (origin === undefined || newcomer === undefined) throw new RangeError('a federation has two members');
    await using source = await openContext(origin, pino({ level: 'silent' }), { sealsAhead: true, startsUnread: true });
    await using _app = await startApp(source);
    await fill(source, records, options);
    const { took, groups } = await pull(newcomer, source, options);
    return {
      table: [
        ['records', 'groups', 'time', 'records/s'],
        [count(records), count(groups), milliseconds(took), count((records * 1000) / took)],
      ],
      notes: [
        'From the first connection until the last batch is on the disk: libp2p with TLS over loopback, both nodes whole',
        'and in this one process, so serving and checking share one thread. Every leaf, group signature and root is checked.',
      ],
    };
  },
};

async function fill(source: NodeContext, records: number, { say, signal }: BenchOptions): Promise<void> {
  const nextDraft = roundRobin(decisionDrafts(DRAFTS));
  for (let made = 0; made < records; made += IN_FLIGHT) {
    signal.throwIfAborted();
    await Promise.all(Array.from({ length: IN_FLIGHT }, () => source.intake.submit(nextDraft())));
    if ((made + IN_FLIGHT) % BATCH_RECORDS === 0) await source.sealer.seal();
  }
  await source.sealer.seal();
  say(`${count(source.intake.recorded)} records made`);
}

async function pull(
  config: NodeConfig,
  source: NodeContext,
  { signal }: BenchOptions,
): Promise<{ readonly took: number; readonly groups: number }> {
  const origin = source.config.id;
  await using target = await openContext(config, pino({ level: 'silent' }), { sealsAhead: true, startsUnread: true });
  let connected = 0;
  target.transport.onConnect((peer) => {
    if (peer === origin && connected === 0) connected = performance.now();
  });
  await using _app = await startApp(target);
  const wanted = source.chains.head(origin).batch;
  let finished = 0;
  await until('catching up', PATIENCE_MS, signal, () => {
    if (target.chains.head(origin).batch < wanted) return false;
    finished = performance.now();
    return true;
  });
  return { took: finished - connected, groups: groupsOf(await source.metrics.expose()) };
}

/** Groups that the source signed. */
function groupsOf({ text }: { readonly text: string }): number {
  return Number(/^meridian_groups_total(?:\{[^}]*\})? (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
}
