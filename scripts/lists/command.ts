import { readdir } from 'node:fs/promises';
import { UsageError, usageLine } from '../../node/config/command-line.ts';
import { RepeatAnswerShape, type RepeatQuestion } from '../../node/operator/backup-forms.ts';
import { type ListOutcome, ListOutcomeShape, type ListState, ListStatesShape } from '../../node/operator/list-forms.ts';
import { LIST_IDS, type ListId } from '../../node/screening/lists/list-id.ts';
import { askAll, type Outcome } from '../key/ask.ts';
import { findTargets, type Target } from '../key/targets.ts';
import { type Arguments, type Command, readArguments, USAGE } from './arguments.ts';
import { readQuestion } from './question.ts';
import { outcomeTable, repeatText, stateTable } from './tables.ts';

/** 0 done on every node · 1 not on every node, or not every list · 2 wrong usage, or no cluster. */
export type ListsExit = 0 | 1 | 2;

export interface Terminal {
  out(line: string): void;
  err(line: string): void;
}

/** Longest that a node may take for one list: it downloads, reads and attests it. In milliseconds. */
const CHANGE_MS = 15 * 60_000;

/** A command that may bring in editions. */
type Change = Extract<Command, { readonly acceptShrink: boolean }>;

/** The `lists` command: the official lists of running nodes. */
export async function listsCommand(args: readonly string[], terminal: Terminal): Promise<ListsExit> {
  try {
    const asked = readArguments(args);
    if (asked === null) {
      terminal.out(USAGE);
      return 0;
    }
    const { command } = asked;
    if (command.name === 'import') await requireLists(command.directory);
    const targets = await findTargets(asked.home, asked.nodes);
    switch (command.name) {
      case 'status':
        return await runStatus(targets, asked, terminal);
      case 'repeat':
        return await runRepeat(await readQuestion(command.file), targets, asked, terminal);
      default:
        return await runChange(command, targets, asked, terminal);
    }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.err(usageLine(error, 'lists'));
    return 2;
  }
}

async function requireLists(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => {
    throw new UsageError(`${directory} is no folder that can be read`);
  });
  if (!names.some((name) => LIST_IDS.some((listId) => listId === name))) {
    throw new UsageError(`${directory} has no sub-folder of a list (${LIST_IDS.join(' ')})`);
  }
}

async function runStatus(
  targets: readonly Target[],
  { lists, json }: Arguments,
  terminal: Terminal,
): Promise<ListsExit> {
  const answers = await askAll(targets, { method: 'GET', path: '/lists', answer: ListStatesShape });
  const outcomes = answers.map((one): Outcome<readonly ListState[]> =>
    one.ok
      ? { node: one.node, ok: true, answer: one.answer.lists.filter(({ listId }) => lists.includes(listId)) }
      : one,
  );
  terminal.out(json ? JSON.stringify({ command: 'status', nodes: outcomes }) : stateTable(outcomes));
  const states = outcomes.flatMap((one) => (one.ok ? one.answer : []));
  const isThere = states.every(({ freshness }) => freshness === 'fresh' || freshness === 'stale');
  return told(outcomes, terminal) && isThere ? 0 : 1;
}

async function runRepeat(
  question: RepeatQuestion,
  targets: readonly Target[],
  { json }: Arguments,
  terminal: Terminal,
): Promise<ListsExit> {
  const path = '/screenings/repeat';
  const body = { ...question };
  const outcomes = await askAll(targets, {
    method: 'POST',
    path,
    body,
    answer: RepeatAnswerShape,
    answerMs: CHANGE_MS,
  });
  terminal.out(json ? JSON.stringify({ command: 'repeat', nodes: outcomes }) : repeatText(outcomes));
  const all = outcomes.every((one) => one.ok && one.answer.outcome === 'agrees');
  return told(outcomes, terminal) && all ? 0 : 1;
}

/** One list after another, so that a table of what was done so far is never far behind. */
async function runChange(
  command: Change,
  targets: readonly Target[],
  { lists, json }: Arguments,
  terminal: Terminal,
): Promise<ListsExit> {
  const outcomes: Outcome<ListOutcome>[] = [];
  for (const listId of lists) outcomes.push(...(await change(command, listId, targets)));
  if (json) terminal.out(JSON.stringify({ command: command.name, nodes: outcomes }));
  else terminal.out(outcomeTable(outcomes));
  const refused = outcomes.filter((one) => one.ok && one.answer.outcome === 'refused');
  return told(outcomes, terminal) && refused.length === 0 ? 0 : 1;
}

function change(command: Change, listId: ListId, targets: readonly Target[]): Promise<Outcome<ListOutcome>[]> {
  const { name, acceptShrink } = command;
  const body = name === 'import' ? { directory: command.directory, acceptShrink } : { acceptShrink };
  const question = { method: 'POST', path: `/lists/${listId}/${name}`, body, answerMs: CHANGE_MS } as const;
  return askAll(targets, { ...question, answer: ListOutcomeShape });
}

/** Says on stderr who did not answer, once for each. Whether all did. */
function told(outcomes: readonly Outcome<unknown>[], terminal: Terminal): boolean {
  const lines = outcomes.flatMap((one) => (one.ok ? [] : [`lists: ${one.node}: ${one.error}`]));
  for (const line of new Set(lines)) terminal.err(line);
  return lines.length === 0;
}
