import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readCommandLine, UsageError } from '../../node/config/command-line.ts';
import { type CommandForm, excludeEachOther, readCommand, wholeNumberOf } from '../../scripts/command-line.ts';
import { CHILD_ENVIRONMENT } from '../fixtures/child-environment.ts';

const OPTIONS = { home: { type: 'string' }, node: { type: 'string', multiple: true } } as const;
const FORMS: Readonly<Record<'move' | 'join', CommandForm<keyof typeof OPTIONS>>> = {
  move: { words: 2, flags: ['home'] },
  join: { flags: ['home', 'node'] },
};

function read(line: string) {
  const { values: flags, positionals } = readCommandLine(line.split(' ').filter(Boolean), OPTIONS);
  return { ...readCommand(positionals, flags, FORMS), flags: { ...flags } };
}

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return 'none';
}

test('the first word is the command, flags stand anywhere', () => {
  assert.equal(read('--home h move a b'), { name: 'move', words: ['a', 'b'], flags: { home: 'h' } });
  for (const words of [[], ['a', 'b', 'c']]) assert.equal(read(`join ${words.join(' ')}`).words, words);
});

test('what a command does not take is refused by its name', () => {
  for (const [line, reason] of [
    ['', 'which command?'],
    ['--home h', 'which command?'],
    ['go', 'there is no command go'],
    ['toString', 'there is no command toString'],
    ['move a b --node n', 'move takes no --node'],
    ['move a', 'move takes 2 words, not 1'],
  ] as const) {
    assert.is(
      refusal(() => read(line)),
      reason,
    );
  }
});

test('an unknown flag, and one without its value, are wrong usage too', () => {
  for (const line of ['join --wrong', 'join --home', 'join --home --node n']) {
    assert.match(
      refusal(() => read(line)),
      /--(wrong|home)/,
      line,
    );
  }
});

test('a value that begins with a dash, or is a flag, is told in one line', () => {
  for (const value of ['-x', '--node']) {
    const reason = refusal(() => readCommandLine(['--home', value], OPTIONS));
    assert.is(reason, "Option '--home' argument is ambiguous");
  }
});

test('two flags that exclude each other are refused where both are given', () => {
  const exclude = (line: string) => refusal(() => excludeEachOther(read(line).flags, 'home', 'node'));
  assert.is(exclude('join --home h --node a --node b'), '--home and --node exclude each other');
  for (const line of ['join', 'join --home h', 'join --node a']) assert.is(exclude(line), 'none');
});

test('a whole number is digits, within its bounds', () => {
  assert.equal(
    ['1', '007', '20'].map((text) => wholeNumberOf(text, 1, 20)),
    [1, 7, 20],
  );
  for (const text of ['', '0', '21', 'x', '10k', '1e1', '-1', '1.5', ' 1', '0x1', 'Infinity']) {
    assert.is(wholeNumberOf(text, 1, 20), null, text);
  }
});

test('a number that is none ends a measurement or a test run with one line and 2, before anything is begun', () => {
  for (const [script, ...args] of [
    ['test/differential/main.ts', '--bundles', 'x'],
    ['test/differential/main.ts', '--bundles', '0'],
    ['test/differential/main.ts', '--seed', '10k'],
    ['test/fuzz/main.ts', '--requests', 'x'],
    ['test/soak/main.ts', '--kills', 'x'],
    ['scripts/scaling.ts', '--sizes', 'x'],
    ['scripts/scaling.ts', '--sizes', '5,5'],
    ['scripts/scaling.ts', '--records', '0'],
    ['test/run.ts', '--seed', 'x'],
    ['test/run.ts', '--foo'],
  ] as const) {
    const { status, stdout, stderr } = runScript(script, args);
    assert.equal([status, stdout], [2, ''], `${script} ${args.join(' ')}: ${stderr}`);
    assert.match(stderr, new RegExp(`^[^\\n]*${args[0]}[^\\n]*; --help says more\\n$`));
  }
});

test('the test runner says with --help what it takes', () => {
  const { status, stdout, stderr } = runScript('test/run.ts', ['--help']);
  assert.equal([status, stderr], [0, '']);
  assert.match(stdout, /^npm test /);
});

function runScript(script: string, args: readonly string[]) {
  const path = join(import.meta.dirname, '../..', script);
  return spawnSync(process.execPath, [path, ...args], { env: CHILD_ENVIRONMENT, encoding: 'utf8' });
}

test.run();
