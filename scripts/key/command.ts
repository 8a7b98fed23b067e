import { UsageError, usageLine } from '../../node/config/command-line.ts';
import { type Arguments, readArguments, USAGE } from './arguments.ts';
import type { Outcome } from './ask.ts';
import { change, type ChangeCommand, unreachable } from './changes.ts';
import { chosenTargets } from './chosen.ts';
import { listAccounts, listKeys } from './lists.ts';
import { accountTable, changeTable, keyTable } from './tables.ts';
import { findTargets, type Target } from './targets.ts';

/** 0 done on every node · 1 not on every node · 2 wrong usage, or no cluster. */
export type KeyExit = 0 | 1 | 2;

export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  /** All of stdin. */
  read(): Promise<string>;
}

/** The `key` command: accounts and keys of running nodes. */
export async function keyCommand(args: readonly string[], terminal: Terminal): Promise<KeyExit> {
  try {
    const asked = readArguments(args, Date.now());
    if (asked === null) {
      terminal.out(USAGE);
      return 0;
    }
    const all = await findTargets(asked.home, asked.nodes);
    const targets = await chosenTargets(asked.command, all, asked.nodes.length > 0 || asked.home !== undefined);
    return await (asked.command.name === 'list'
      ? runList(asked.command.account, targets, asked, terminal)
      : runChange(asked.command, targets, asked, terminal));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.err(usageLine(error, 'key'));
    return 2;
  }
}

async function runList(
  account: string | undefined,
  targets: readonly Target[],
  { json }: Arguments,
  terminal: Terminal,
): Promise<KeyExit> {
  if (account === undefined) {
    const outcomes = await listAccounts(targets);
    terminal.out(json ? JSON.stringify({ command: 'list', nodes: outcomes }) : accountTable(outcomes));
    return told(outcomes, terminal);
  }
  const outcomes = await listKeys(targets, account);
  terminal.out(json ? JSON.stringify({ command: 'list', account, nodes: outcomes }) : keyTable(outcomes));
  return told(outcomes, terminal);
}

async function runChange(
  command: ChangeCommand,
  targets: readonly Target[],
  { json }: Arguments,
  terminal: Terminal,
): Promise<KeyExit> {
  const silent = await unreachable(targets);
  if (silent.length > 0) {
    told(silent, terminal);
    terminal.err('key: nothing was changed; --node picks the nodes that are to be');
    return 1;
  }
  const { outcomes, apiKey } = await change(command, targets, async () => (await terminal.read()).trim());
  // A key that the operator brought is not shown again.
  const shown = command.name === 'create' && command.knownAs !== undefined ? null : apiKey;
  if (json) terminal.out(JSON.stringify({ command: command.name, apiKey: shown, nodes: outcomes }));
  else {
    terminal.out(changeTable(outcomes));
    if (shown !== null) terminal.out(`\nThe API key, shown this once:\n${shown}`);
  }
  return told(outcomes, terminal);
}

/** Says on stderr who did not do it. */
function told(outcomes: readonly Outcome<unknown>[], terminal: Terminal): KeyExit {
  for (const outcome of outcomes) if (!outcome.ok) terminal.err(`key: ${outcome.node}: ${outcome.error}`);
  return outcomes.every(({ ok }) => ok) ? 0 : 1;
}
