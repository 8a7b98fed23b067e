// The `npm test` runner: every test/**/*.test.ts, a few in a process, but for the long ones (`*.long.test.ts`), which
// `--long` runs alone. Other arguments are parts of paths: only files whose path contains one of them run, long or not.
// Both show what the tests measured.
import { relative } from 'node:path';
import { endWithUsageError, requireCommandLine, UsageError } from '../node/config/command-line.ts';
import { type Batch, PROCESSES_AT_ONCE, type Schedule, schedule, type Selection } from './runner/schedule.ts';
import { readSeed, SEED, SEED_VARIABLE } from './runner/seed.ts';
import { parseFigures } from './runner/uvu-totals.ts';
import { type FileResult, type RunOptions, runTestFiles } from './runner/test-file.ts';

const FILE_DEADLINE_MS = 420_000;

const interrupt = new AbortController();
process.on('SIGINT', () => interrupt.abort());
process.on('SIGTERM', () => interrupt.abort());

const USAGE = `npm test -- [PART-OF-PATH…] [--long] [--seed ${SEED}] [--times]

Every test file but the long ones, or those whose path contains one of these parts, long or not.
  --long    the long ones alone
  --seed S  generates other cases than the usual ones
  --times   ends with the processor time of each file`;
const { values, positionals } = requireCommandLine(
  USAGE,
  {
    long: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(SEED) },
    times: { type: 'boolean', default: false },
  },
  { allowPositionals: true },
);
const selection = selectionOf(positionals);
const seed = readSeed(values.seed) ?? endWithUsageError(new UsageError('--seed is a whole number below 2^31'));
process.env[SEED_VARIABLE] = String(seed);
console.log(`generated cases are those of seed ${seed}`);
const files = await schedule(import.meta.dirname, selection);
if (files.leftOut > 0) console.log(`${files.leftOut} long test files run apart: npm run test:long`);
const results = await runAll(files);
if (values.times) printTimes(results);
process.exitCode = summarise(results) ? 0 : 1;

function selectionOf(args: readonly string[]): Selection {
  if (args.length > 0) return args;
  return values.long ? 'long' : 'usual';
}

/** The first process begins with the files that go in turn; the others, and it afterwards, share the rest. */
async function runAll({ together, serial }: Schedule): Promise<FileResult[]> {
  const finished: FileResult[] = [];
  const shared = [...together];
  const work = async (waiting: Batch[], index: number): Promise<void> => {
    const options: RunOptions = {
      deadlineMs: FILE_DEADLINE_MS,
      signal: interrupt.signal,
      ports: { index, shares: PROCESSES_AT_ONCE },
      report: (result) => {
        report(result);
        finished.push(result);
      },
    };
    for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) await runTestFiles(batch, options);
    if (waiting !== shared) await work(shared, index);
  };
  await Promise.all(
    Array.from({ length: PROCESSES_AT_ONCE }, (_, index) => work(index === 0 ? [...serial] : shared, index)),
  );
  return finished;
}

function report(result: FileResult): void {
  const name = relative(process.cwd(), result.path);
  const counts = `${result.passed} passed${result.skipped > 0 ? `, ${result.skipped} SKIPPED` : ''}`;
  const verdict = result.failure === null ? 'ok  ' : 'FAIL';
  const reason = result.failure === null ? '' : ` (${result.failure})`;
  console.log(`${verdict} ${name}  ${counts}  ${result.seconds.toFixed(1)} s${reason}`);
  for (const skip of result.skipReasons) {
    console.log(`     SKIPPED in ${name}: ${skip}`);
  }
  if (result.failure !== null) {
    console.log(`----- output of ${name}\n${result.output.trimEnd()}\n----- end of ${name}`);
  } else if (selection !== 'usual') {
    for (const figure of parseFigures(result.output)) console.log(`     ${figure}`);
  }
}

/** Prints what each file took, dearest first, under what all took. */
function printTimes(all: readonly FileResult[]): void {
  const spent = all.flatMap(({ path, seconds, processorSeconds }) =>
    processorSeconds === null ? [] : [{ name: relative(process.cwd(), path), seconds, processorSeconds }],
  );
  const total = spent.reduce((sum, { processorSeconds }) => sum + processorSeconds, 0);
  console.log(
    `\n${total.toFixed(1)} s of processor time in ${spent.length} files; of it and of the clock, dearest first:`,
  );
  for (const { name, seconds, processorSeconds } of spent.toSorted((a, b) => b.processorSeconds - a.processorSeconds)) {
    console.log(`  ${processorSeconds.toFixed(1)} s  ${seconds.toFixed(1)} s  ${name}`);
  }
}

/** Prints the totals as the last line, and tells whether the run as a whole is a success. */
function summarise(all: readonly FileResult[]): boolean {
  const sum = (count: (result: FileResult) => number): number => all.reduce((total, next) => total + count(next), 0);
  const passed = sum((result) => result.passed);
  const failed = sum((result) => result.failed);
  const skipped = sum((result) => result.skipped);
  const failures = all.filter((result) => result.failure !== null);
  if (failures.length > 0) {
    console.log(`\nfailed files:\n${failures.map((result) => `  ${result.path}: ${result.failure}`).join('\n')}`);
  }
  if (all.length === 0) {
    console.log('no test file ran');
  }
  if (interrupt.signal.aborted) {
    console.log('interrupted: not every file ran');
  }
  console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed === 0 && passed > 0 && !interrupt.signal.aborted;
}
