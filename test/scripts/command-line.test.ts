import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readCommandLine, UsageError } from '../../node/config/command-line.ts';
import { type CommandForm, excludeEachOther, readCommand } from '../../scripts/command-line.ts';

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

test('two flags that exclude each other are refused where both are given', () => {
  const exclude = (line: string) => refusal(() => excludeEachOther(read(line).flags, 'home', 'node'));
  assert.is(exclude('join --home h --node a --node b'), '--home and --node exclude each other');
  for (const line of ['join', 'join --home h', 'join --node a']) assert.is(exclude(line), 'none');
});

test.run();
