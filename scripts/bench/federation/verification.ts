import pino from 'pino';
import { openContext } from '../../../node/context.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { Bundle } from '../../../protocol/verdict/bundle.ts';
import { parseBundle } from '../../../protocol/verdict/parse.ts';
import { verifyBundle } from '../../../protocol/verdict/verify.ts';
import { recordId } from '../../../protocol/ids.ts';
import type { JsonValue } from '../../../protocol/json/value.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import type { Suite } from '../../../protocol/suite/suite.ts';
import { quietConfig } from '../node-home.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { type ProcessorTime, processorTime } from '../processor-time.ts';
import { median } from '../statistics.ts';
import { count, microseconds, ratio } from '../table.ts';
import { type FilledCluster, fillCluster } from './filled-cluster.ts';

const FULL = { records: 10_000, bundles: 50, rounds: 5, runMs: 2_000 };
const QUICK = { records: 500, bundles: 5, rounds: 1, runMs: 300 };

/** Callers at a time, where a verdict waits for the disk as well as for the processor. */
const CALLERS = 16;

interface Way {
  readonly name: string;
  readonly callers: number;
  /** Verifies one record or bundle. Throws where it does not hold. */
  readonly verify: () => Promise<void> | void;
}

/** Verdicts a second: on stored records of many batches, and on bundles with nothing remembered in between. */
export const verification: Part = {
  name: 'verification',
  title: 'Verification: stored records, and bundles offline',
  async run(options): Promise<Result> {
    const { records, bundles: wanted } = options.quick ? QUICK : FULL;
    let filled;
    let bundles;
    {
      await using open = await fillCluster(options.home, records, options);
      filled = open;
      bundles = await fetchBundles(open, wanted);
    }
    const { cluster, ids } = filled;
    const config = quietConfig(cluster.node(0), cluster.plan, cluster.home, cluster.rosterFile);
    await using context = await openContext(config, pino({ level: 'silent' }), {
      sealsAhead: true,
      startsUnread: true,
    });
    const pin = context.keys.rosters.genesis;
    const offline = (suite: Suite) => () => {
      const bundle = pick(bundles);
      // Certificates are remembered by what they stand in.
      const keys = bundle.keys.map((signed) => ({ ...signed }));
      if (!verifyBundle(suite, { ...bundle, keys }, { pin }).verified) throw new Error('a bundle is not verified');
    };
    const stored = async () => {
      const found = await context.verifier.verifyRecord(recordId(pick(ids)));
      if (found?.verdict.verified !== true) throw new Error('a record is not verified');
    };
    const ways = [
      { name: 'stored record, native', callers: 1, verify: stored },
      { name: `stored record, native, ${CALLERS} callers`, callers: CALLERS, verify: stored },
      { name: 'bundle offline, native', callers: 1, verify: offline(nativeSuite) },
      { name: 'bundle offline, noble', callers: 1, verify: offline(nobleSuite) },
    ];
    const figures = await measure(ways, options);
    const noble = figures.at(-1)?.perSecond ?? Number.NaN;
    return {
      table: [
        ['', 'verdicts/s', 'against noble', 'main', 'all'],
        ...figures.map(({ perSecond, main, all }, i) => {
          return [
            ways[i]?.name ?? '',
            count(perSecond),
            ratio(perSecond / noble),
            microseconds(main),
            microseconds(all),
          ];
        }),
      ],
      notes: [
        `Random records of ${count(records)} in their batches, decided and vouched for. A stored record is read, its`,
        'payload decrypted and all five checks made; signatures that many records share (envelope, receipts, keys) are',
        'remembered once checked. A bundle is checked whole, every signature and roster in it, and nothing is remembered.',
        'Main and all: processor time a verdict, of the main thread and of all threads.',
      ],
    };
  },
};

/** Of one way: verdicts a second, and what one takes of the processor, in microseconds. */
interface Figures extends ProcessorTime {
  readonly perSecond: number;
}

async function measure(ways: readonly Way[], { quick, say, signal }: BenchOptions): Promise<Figures[]> {
  const { rounds, runMs } = quick ? QUICK : FULL;
  const turns = ways.map((): Figures[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, way] of ways.entries()) {
      signal.throwIfAborted();
      const figures = await figuresOf(way, runMs);
      turns[i]?.push(figures);
      say(`${way.name}: ${count(figures.perSecond)}/s`);
    }
  }
  const medianOf = (all: readonly Figures[], of: (each: Figures) => number) => median(all.map(of));
  return turns.map((all) => ({
    perSecond: medianOf(all, ({ perSecond }) => perSecond),
    main: medianOf(all, ({ main }) => main),
    all: medianOf(all, (each) => each.all),
  }));
}

async function figuresOf({ callers, verify }: Way, runMs: number): Promise<Figures> {
  const before = await processorTime(process.pid);
  const started = performance.now();
  let verdicts = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() - started < runMs) {
      await verify();
      verdicts++;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const perSecond = (verdicts * 1000) / (performance.now() - started);
  const after = await processorTime(process.pid);
  return { perSecond, main: (after.main - before.main) / verdicts, all: (after.all - before.all) / verdicts };
}

async function fetchBundles({ cluster, client, ids }: FilledCluster, wanted: number): Promise<Bundle[]> {
  const bundles: Bundle[] = [];
  for (let i = 0; i < wanted; i++) {
    const answer = await client.get(`${cluster.node(0).baseUrl}/v1/bundles/${pick(ids)}?disclosure=1`);
    if (!isJson(answer)) throw new Error('a bundle is a JSON object');
    bundles.push(parseBundle(answer));
  }
  return bundles;
}

/** The client parsed it from JSON text. */
function isJson(value: unknown): value is JsonValue {
  return typeof value === 'object' && value !== null;
}

function pick<Item>(items: readonly Item[]): Item {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new RangeError('nothing to pick from');
  return item;
}
