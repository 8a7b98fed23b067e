// `npm run scaling`: federations of growing size on this machine, what they cost a member, and what a model made of the
// smaller ones says of the largest, which checks it, and of a hundred members with ten million records a day.
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endWithUsageError, requireCommandLine, UsageError } from '../node/config/command-line.ts';
import { machineLine } from './bench/machine.ts';
import { tableText } from './bench/table.ts';
import { requireWhole, wholeNumberOf } from './command-line.ts';
import type { Measured } from './scaling/measured.ts';
import { fit } from './scaling/model.ts';
import { simulate } from './scaling/simulation.ts';
import { dayTable, deviations, deviationTable, measuredTable, type Way } from './scaling/tables.ts';

const USAGE = `npm run scaling -- [--sizes 5,10,25] [--records 100] [--idle 35] [--most-deviation 50] [--json FILE]

Runs federations of these sizes, several members a process, and a local ledger; measures what each member receives, sends,
stores and computes. The model is made of the first two sizes and held against the last. About eight minutes on two cores.
  --records N         of each batch in the round that has many
  --idle SECONDS      how long nothing is asked; heads are compared every 30
  --most-deviation P  per cent by which the model may miss the last size; beyond it the exit code is 1
  --home DIR          where the stores are; in memory where the system offers it: so many members share no disk
  --json FILE         writes what was measured`;

const MEMORY = '/dev/shm';

/** A smaller federation has nobody to send to. */
const LEAST_MEMBERS = 2;

/** Records a day of all members together, in the extrapolation. */
const RECORDS_A_DAY = 10_000_000;

const { values: flags } = requireCommandLine(USAGE, {
  sizes: { type: 'string', default: '5,10,25' },
  records: { type: 'string', default: '100' },
  idle: { type: 'string', default: '35' },
  'most-deviation': { type: 'string', default: '50' },
  home: { type: 'string', default: existsSync(MEMORY) ? MEMORY : tmpdir() },
  json: { type: 'string' },
});
const sizes = sizesOf(flags.sizes);
const records = requireWhole(flags, 'records', 1);
const idleMs = requireWhole(flags, 'idle', 1) * 1000;
const mostDeviation = requireWhole(flags, 'most-deviation') / 100;
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());

console.log(machineLine());
const all: Measured[] = [];
for (const size of sizes) all.push(await measure(size));
if (flags.json !== undefined) await writeFile(flags.json, `${JSON.stringify(all, null, 2)}\n`);
const [first, second] = all;
const last = all.at(-1);
if (first === undefined || second === undefined || last === undefined) throw new RangeError('two sizes are measured');
console.log(`\n${tableText(measuredTable(all))}`);
const missed = deviations(fit(first, second), last);
console.log(`\nThe model of ${first.members} and ${second.members} members against ${last.members}:\n`);
console.log(tableText(deviationTable(missed)));
console.log(`\n${RECORDS_A_DAY} records a day, the model made of ${first.members} and ${last.members} members:\n`);
console.log(tableText(dayTable(fit(first, last), ways())));
const wrong = missed.filter(({ deviation }) => !(Math.abs(deviation) <= mostDeviation));
for (const { what } of wrong) console.log(`\nThe model misses by more than it may: ${what}`);
process.exit(wrong.length === 0 ? 0 : 1);

async function measure(members: number): Promise<Measured> {
  const home = await mkdtemp(join(flags.home, 'meridian-scaling-'));
  try {
    return await simulate({
      members,
      home,
      records,
      idleMs,
      signal: interrupted.signal,
      say: (line) => console.error(`  … ${line}`),
    });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** The model is made of the first two, which must differ. */
function sizesOf(text: string): number[] {
  const given = text.split(',');
  const whole = given.flatMap((size) => wholeNumberOf(size, LEAST_MEMBERS) ?? []);
  if (whole.length === given.length && whole.length > 1 && whole[0] !== whole[1]) return whole;
  return endWithUsageError(
    new UsageError(`--sizes is two sizes or more, each another, of ${LEAST_MEMBERS} members at least`),
  );
}

function ways(): Way[] {
  const way = (members: number, interval: number, name: string): Way => ({
    name,
    setting: { members, interval, recordsADay: RECORDS_A_DAY },
  });
  return [
    way(5, 15, 'as it is, 5'),
    way(25, 15, 'as it is, 25'),
    way(100, 15, 'as it is, 100'),
    way(100, 60, 'a batch a minute'),
  ];
}
