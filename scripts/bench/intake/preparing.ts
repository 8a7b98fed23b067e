import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Intake } from '../../../node/intake/intake.ts';
import { openPreparingThreads } from '../../../node/intake/preparing-threads.ts';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import { DailyUsage } from '../../../node/accounts/limits/daily-usage.ts';
import { PayloadCipher } from '../../../node/records/payload/payload-cipher.ts';
import { RecordCounters } from '../../../node/records/record-counters.ts';
import { Store } from '../../../node/store/store.ts';
import { EvidenceTally } from '../../../node/records/counts/evidence-tally.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { SEED_BYTES } from '../../../protocol/suite/suite.ts';
import { decisionDrafts, roundRobin } from '../drafts.ts';
import type { BenchOptions } from '../part.ts';
import { type ProcessorTime, processorTime } from '../processor-time.ts';
import { median } from '../statistics.ts';
import { count, microseconds, ratio, type TextTable, tableText } from '../table.ts';

const NODE = nodeId('eu');
const THREADS = [0, 1, 2];
const GROUPS = [10, 45, 200];
const DRAFTS = 200;
/** Alternating rounds, and the length of one way's turn in milliseconds. */
const FULL = { rounds: 9, runMs: 800 };
const QUICK = { rounds: 1, runMs: 200 };
/** What the model reckons with. */
const MODELLED_CORES = 16;
const MICROSECONDS = 1e6;

interface Way {
  readonly threads: number;
  readonly turn: (group: number, milliseconds: number) => Promise<ProcessorTime>;
}

/**
 * Processor time a record with groups prepared in place and in threads, and what follows for a machine of many cores.
 */
export async function measurePreparing(options: BenchOptions): Promise<readonly string[]> {
  await using resources = new AsyncDisposableStack();
  const ways: Way[] = [];
  for (const threads of THREADS) ways.push({ threads, turn: await openWay(threads, options.home, resources) });
  const rows: string[][] = [
    ['records a group', 'threads', 'main', 'all', 'main to 0', 'all to 0', `${MODELLED_CORES} cores`],
  ];
  for (const group of GROUPS) rows.push(...(await measureGroup(group, ways, options)));
  return [
    'Processor time a record of intake with usage and tally, by the threads that prepare groups (INTAKE_THREADS):',
    ...tableLines(rows),
    `The last column is reckoned, not measured: with ${MODELLED_CORES} idle cores the event loop bounds intake alone at so many records/s,`,
    'or all cores together do where that is less. What answers requests comes to the event loop’s part.',
  ];
}

async function measureGroup(
  group: number,
  ways: readonly Way[],
  { quick, signal, say }: BenchOptions,
): Promise<string[][]> {
  const { rounds, runMs } = quick ? QUICK : FULL;
  const times = new Map<Way, ProcessorTime[]>(ways.map((way) => [way, []]));
  for (const way of ways) await way.turn(group, runMs);
  for (let round = 0; round < rounds; round++) {
    for (const way of ways) {
      signal.throwIfAborted();
      const time = await way.turn(group, runMs);
      times.get(way)?.push(time);
      say(`groups of ${group}, ${way.threads} threads: ${microseconds(time.main)} main, ${microseconds(time.all)} all`);
    }
  }
  const inPlace = [...times.values()][0] ?? [];
  return [...times].map(([{ threads }, own]) => {
    const [main, all] = [median(own.map((time) => time.main)), median(own.map((time) => time.all))];
    const paired = (of: keyof ProcessorTime) =>
      ratio(median(own.map((time, i) => time[of] / (inPlace[i]?.[of] ?? Number.NaN))));
    const bound = Math.min(MICROSECONDS / main, (MICROSECONDS * MODELLED_CORES) / all);
    return [
      String(group),
      String(threads),
      microseconds(main),
      microseconds(all),
      paired('main'),
      paired('all'),
      `${count(bound)}/s`,
    ];
  });
}

/** An intake of its own; a turn makes records in groups of one size, and tells the processor time a record. */
async function openWay(threads: number, home: string, resources: AsyncDisposableStack): Promise<Way['turn']> {
  const store = resources.use(await Store.open(join(home, `threads-${threads}`)));
  const payloadKey = new Uint8Array(randomBytes(SEED_BYTES));
  const signer = nativeSigner(new Uint8Array(randomBytes(SEED_BYTES)));
  const usage = await DailyUsage.open({ store, node: NODE, now: Date.now });
  const preparing = openPreparingThreads(threads, payloadKey);
  if (preparing !== undefined) resources.use(preparing);
  const intake = resources.use(
    await Intake.open({
      node: NODE,
      store,
      signer: () => signer,
      cipher: new PayloadCipher(payloadKey),
      now: Date.now,
      threads: preparing,
      projections: [],
      counters: new RecordCounters(store, [usage, await EvidenceTally.open(store, NODE)]),
      onCommitted: () => {},
    }),
  );
  intake.start();
  const nextDraft = roundRobin(decisionDrafts(DRAFTS));
  return async (group, milliseconds) => {
    const end = performance.now() + milliseconds;
    const before = await processorTime(process.pid);
    let records = 0;
    // One after the other: those that wait together would become one group.
    while (performance.now() < end) {
      await intake.submitAll(Array.from({ length: group }, nextDraft));
      records += group;
    }
    const after = await processorTime(process.pid);
    return { main: (after.main - before.main) / records, all: (after.all - before.all) / records };
  };
}

function tableLines(rows: TextTable): string[] {
  return ['', ...tableText(rows).split('\n'), ''];
}
