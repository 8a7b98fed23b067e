import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../fixtures/until.ts';
import { readPortShare } from './port-share.ts';
import { parseSkips, parseTotals } from './uvu-totals.ts';
import { type FileResult, runTestFiles } from './test-file.ts';

const UVU = import.meta.resolve('uvu');
const UVU_ASSERT = import.meta.resolve('uvu/assert');
const HEADER = `import { test } from '${UVU}';\n`;
const PASSING = `${HEADER}test('a', () => {});\ntest('b', () => {});\ntest.run();\n`;
const FAILING = `${HEADER}test('a', () => {});\ntest('b', () => { throw new Error('wanted 4'); });\ntest.run();\n`;
/** Long enough for a file that does nothing, on a machine that does much. */
const DEADLINE_MS = 8_000;

/** A copy of the runner with its own test files, in a folder that is removed afterwards. */
class Playground {
  readonly folder = mkdtempSync(join(tmpdir(), 'meridian-runner-'));

  constructor(files: Record<string, string>) {
    mkdirSync(join(this.folder, 'test/runner'), { recursive: true });
    for (const path of ['test/run.ts', 'node/config/command-line.ts', 'scripts/command-line.ts']) {
      cpSync(join(import.meta.dirname, '../..', path), join(this.folder, path));
    }
    for (const name of [
      'marked-output.ts',
      'port-share.ts',
      'schedule.ts',
      'seed.ts',
      'test-file.ts',
      'uvu-totals.ts',
      'worker.ts',
    ]) {
      cpSync(join(import.meta.dirname, name), join(this.folder, 'test/runner', name));
    }
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(this.folder, 'test', name, '..'), { recursive: true });
      writeFileSync(join(this.folder, 'test', name), text);
    }
  }

  run(...filters: string[]): { status: number | null; output: string; lastLine: string | undefined } {
    const options = { cwd: this.folder, encoding: 'utf8' } as const;
    const { status, stdout } = spawnSync(process.execPath, ['test/run.ts', ...filters], options);
    return { status, output: stdout, lastLine: stdout.trimEnd().split('\n').at(-1) };
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

test('passing files add up to the last line and exit code 0', () => {
  using playground = new Playground({
    'one.test.ts': PASSING,
    'deep/two.test.ts': PASSING,
    'crash/x.test.ts': PASSING,
  });
  const { status, lastLine } = playground.run();
  assert.is(status, 0);
  assert.is(lastLine, '6 passed, 0 failed');
});

test('long files run apart, when they are asked for or named, and it is said that they were left out', () => {
  using playground = new Playground({ 'one.test.ts': PASSING, 'cluster/storm.long.test.ts': PASSING });
  const usual = playground.run();
  assert.is(usual.lastLine, '2 passed, 0 failed');
  assert.match(usual.output, '1 long test files run apart: npm run test:long');
  for (const argument of ['--long', 'storm']) {
    const { output, lastLine } = playground.run(argument);
    assert.is(lastLine, '2 passed, 0 failed');
    assert.match(output, 'test/cluster/storm.long.test.ts');
    assert.not.match(output, 'run apart');
  }
});

test('what tests measured is shown where files are named, without the frame of uvu', () => {
  const measuring = `${HEADER}test('a', () => console.log('healed after 3 s'));\ntest('b', () => {});\ntest.run();\n`;
  using playground = new Playground({ 'one.test.ts': measuring });
  assert.not.match(playground.run().output, 'healed');
  const lines = playground.run('one').output.split('\n');
  assert.equal(
    lines.filter((line) => line.startsWith('     ')),
    ['     healed after 3 s'],
  );
});

test('every run has one seed, and says which; it is another where another is asked for', () => {
  const imports = `${HEADER}import { SEED } from './runner/seed.ts';\n`;
  using playground = new Playground({
    'one.test.ts': `${imports}test('a', () => console.log('has', SEED));\ntest.run();\n`,
  });
  for (const [flags, expected] of [
    [[], 1],
    [['--seed', '7'], 7],
  ] as const) {
    const { output, lastLine } = playground.run('one', ...flags);
    assert.is(lastLine, '1 passed, 0 failed', output);
    assert.match(output, `generated cases are those of seed ${expected}\n`);
    assert.match(output, `     has ${expected}\n`);
  }
  for (const wrong of ['today', '-1', '2147483648']) assert.is(playground.run('one', '--seed', wrong).status, 2, wrong);
});

test('a failing test shows its whole output and makes the exit code 1', () => {
  using playground = new Playground({ 'one.test.ts': PASSING, 'two.test.ts': FAILING });
  const { status, output, lastLine } = playground.run();
  assert.is(status, 1);
  assert.is(lastLine, '3 passed, 1 failed');
  assert.match(output, 'wanted 4');
  assert.match(output, 'FAIL test/two.test.ts');
});

test('a file that crashes, exits early, runs nothing or fails after its totals counts as one failure', () => {
  using playground = new Playground({
    'crash.test.ts': 'throw new Error("on import");\n',
    'early.test.ts': `${HEADER}test('a', () => process.exit(0));\ntest.run();\n`,
    'forgotten.test.ts': `${HEADER}test('a', () => {});\n`,
    'late.test.ts': `${HEADER}test('a', () => {});\ntest.run();\nsetTimeout(() => process.abort(), 200);\n`,
  });
  const { status, output, lastLine } = playground.run();
  assert.is(status, 1);
  assert.is(lastLine, '1 passed, 4 failed', output);
});

test('filters choose files, and a run of no file at all fails', () => {
  using playground = new Playground({ 'one.test.ts': PASSING, 'two.test.ts': FAILING });
  assert.is(playground.run('test/one').lastLine, '2 passed, 0 failed');
  const none = playground.run('nowhere');
  assert.is(none.lastLine, '0 passed, 0 failed');
  assert.is(none.status, 1);
});

test('a skipped file is counted and says why', () => {
  using playground = new Playground({ 'one.test.ts': PASSING, 'two.test.ts': "console.log('SKIP: no browser');\n" });
  const { status, output, lastLine } = playground.run();
  assert.is(status, 0);
  assert.is(lastLine, '2 passed, 0 failed, 1 skipped');
  assert.match(output, 'SKIPPED in test/two.test.ts: no browser');
});

test('a test that cannot look is counted as skipped, not as passed, and says why', () => {
  const where = `import { testWhere } from '${import.meta.resolve('../fixtures/test-where.ts')}';\n`;
  const looking = (isThere: boolean): string => `testWhere(${isThere}, 'no list')('it holds', () => {});\n`;
  using playground = new Playground({
    'one.test.ts': `${where}${HEADER}${looking(true)}${looking(false)}test.run();\n`,
  });
  const { status, output, lastLine } = playground.run();
  assert.is(status, 0);
  assert.is(lastLine, '1 passed, 0 failed, 1 skipped');
  assert.match(output, 'SKIPPED in test/one.test.ts: it holds: no list');
});

test('a hanging file is killed at its deadline together with the processes it started', async () => {
  const started = 'process.stdout.write(String(spawn("sleep", ["60"]).pid) + "\\n");';
  using playground = new Playground({
    'hang.test.ts': `import { spawn } from 'node:child_process';\n${started}\nsetInterval(() => {}, 1000);\n`,
    'one.test.ts': PASSING,
    'two.test.ts': PASSING,
  });
  const [first, hung, afterwards] = await resultsOf(playground, 'one', 'hang', 'two');
  assert.match(hung?.failure ?? '', `killed after ${DEADLINE_MS / 1000} s`);
  assert.is(hung?.failed, 1);
  assert.ok((hung?.seconds ?? 60) < 30);
  assert.equal([first?.failure, first?.passed, afterwards?.failure, afterwards?.passed], [null, 2, null, 2]);
  await gone(Number.parseInt(hung?.output ?? '', 10));
});

test('files of one process begin where the last one has let go of everything, and are told apart', async () => {
  const busy = `import { writeFileSync } from 'node:fs';\nsetTimeout(() => writeFileSync(import.meta.dirname + '/released', ''), 300);\n`;
  const looking = `import { existsSync } from 'node:fs';\nimport * as assert from '${UVU_ASSERT}';\n`;
  const state = 'globalThis.ran = (globalThis.ran ?? 0) + 1;\nconsole.error("ran", globalThis.ran);\n';
  using playground = new Playground({
    'one.test.ts': `${HEADER}${busy}${state}test('a', () => {});\ntest.run();\n`,
    'two.test.ts': `${HEADER}${looking}${state}test('b', () => assert.ok(existsSync(import.meta.dirname + '/released')));\ntest.run();\n`,
    'three.test.ts': `${HEADER}${state}test('c', () => {});\ntest('d', () => { throw new Error(); });\ntest.run();\n`,
    'four.test.ts': `${HEADER}${state}test('e', () => {});\ntest.run();\n`,
  });
  const results = await resultsOf(playground, 'one', 'two', 'three', 'four');
  assert.equal(
    results.map(({ path, passed, failed, output }) => [basename(path), passed, failed, /ran (\d)/.exec(output)?.[1]]),
    [
      ['one.test.ts', 1, 0, '1'],
      ['two.test.ts', 1, 0, '2'],
      ['three.test.ts', 1, 1, '3'],
      // A failed file may leave anything behind.
      ['four.test.ts', 1, 0, '1'],
    ],
  );
});

test('what each file took of the processor is told where it is asked for, with what its own processes took', async () => {
  const loop = 'for (const end = process.cpuUsage().user + 4e5; process.cpuUsage().user < end;);';
  using playground = new Playground({
    'busy.test.ts': `${HEADER}test('a', () => { ${loop} });\ntest.run();\n`,
    'parent.test.ts':
      `${HEADER}import { spawnSync } from 'node:child_process';\n` +
      `test('a', () => { spawnSync(process.execPath, ['-e', ${JSON.stringify(loop)}]); });\ntest.run();\n`,
    'rest.test.ts': PASSING,
  });
  assert.not.match(playground.run().output, 'processor time');
  const { output } = playground.run('--times');
  const spent = (name: string): number =>
    Number(new RegExp(`([\\d.]+) s +[\\d.]+ s +test/${name}.test.ts`).exec(output)?.[1]);
  assert.ok(spent('busy') >= 0.4 && spent('parent') >= 0.4, output);
  assert.ok(spent('rest') < 0.4, output);
});

test('an interrupt ends the files under way and fails the run', async () => {
  using playground = new Playground({
    'hang.test.ts': `import { writeFileSync } from 'node:fs';\nwriteFileSync('up', ''); setInterval(() => {}, 1000);\n`,
  });
  const runner = spawn(process.execPath, ['test/run.ts'], {
    cwd: playground.folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  runner.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await until('the file is under way', () => existsSync(join(playground.folder, 'up')));
  runner.kill('SIGTERM');
  const code = await new Promise((resolve) => runner.on('close', resolve));
  assert.is(code, 1, output);
  assert.match(output, 'interrupted');
});

test('files that run at the same time are given ports of different shares', async () => {
  const telling = `${HEADER}console.log('ports ' + process.env.MERIDIAN_TEST_PORT_SHARE);\ntest('a', () => {});\ntest.run();\n`;
  using playground = new Playground({ 'one.test.ts': telling });
  const [result] = await resultsOf(playground, 'one');
  assert.match(result?.output ?? '', 'ports 1/3');
  assert.equal(readPortShare('1/3'), { index: 1, shares: 3 });
  for (const text of ['3/3', '1', '-1/3', '0/0', '']) assert.throws(() => readPortShare(text), /is not a share/);
});

test('the last summary in the output counts, colours or not', () => {
  const summary = (passed: number): string =>
    `\n  Total:     3\n\u001b[32m  Passed:    ${passed}\u001b[39m\n  Skipped:   0\n`;
  assert.equal(parseTotals(summary(1) + summary(2)), { total: 3, passed: 2, skipped: 0 });
  assert.is(parseTotals('Total: 3'), null);
  assert.equal(parseSkips('SKIP: a\nnot SKIP: b\nSKIP:\n'), ['a', '(no reason given)']);
});

/** Of files that one process is to run, which kills each at its deadline. */
async function resultsOf({ folder }: Playground, ...names: readonly string[]): Promise<FileResult[]> {
  const paths = names.map((name) => join(folder, `test/${name}.test.ts`));
  const results: FileResult[] = [];
  const { signal } = new AbortController();
  await runTestFiles(paths, {
    deadlineMs: DEADLINE_MS,
    signal,
    ports: { index: 1, shares: 3 },
    report: (result) => results.push(result),
  });
  return results;
}

/** Waits until a process is dead (a zombie that nobody reaped counts as dead). */
async function gone(pid: number): Promise<void> {
  await until(`process ${pid} gone`, () => !alive(pid));
}

function alive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test.run();
