import { UsageError } from '../../node/config/command-line.ts';
import { AccountKeysAnswerShape } from '../../node/operator/account-forms.ts';
import { OperatorError } from '../../node/operator/operator-client.ts';
import { homeOf } from '../../protocol/accounts/account-id.ts';
import type { Command } from './arguments.ts';
import { ask } from './ask.ts';
import type { Target } from './targets.ts';

const NOT_FOUND = 404;

/**
 * The nodes that a command is for, among those that it may speak to. What is done at the home of an account alone goes
 * there; what is about an account goes to the nodes that have it, since nodes that it only names have it from its home.
 * `isPicked`: whether the operator named the nodes. Throws `UsageError`.
 */
export async function chosenTargets(
  command: Command,
  targets: readonly Target[],
  isPicked: boolean,
): Promise<readonly Target[]> {
  const home = homeAsked(command);
  if (home !== undefined) return targets.length === 1 ? targets : [homeAmong(targets, home)];
  const account = accountIn(command);
  if (isPicked || account === undefined) return targets;
  const having = await Promise.all(targets.map(async (target) => ((await lacks(target, account)) ? [] : [target])));
  const chosen = having.flat();
  // None of them has it: each says so.
  return chosen.length === 0 ? targets : chosen;
}

/** The home of the account that a command is done at; undefined where it may be done at several nodes. */
function homeAsked(command: Command): string | undefined {
  switch (command.name) {
    case 'create-account':
      return command.terms.nodes === undefined
        ? undefined
        : ((command.id && homeOf(command.id)) ?? command.terms.nodes[0]);
    case 'set-nodes':
    case 'restate':
    case 'remove-second-factors':
      return homeOf(command.account) ?? command.account;
    default:
      return undefined;
  }
}

function homeAmong(targets: readonly Target[], home: string): Target {
  const found = targets.find(({ node }) => node === home);
  if (found === undefined) throw new UsageError(`${home}, the home of the account, is none of the nodes`);
  return found;
}

function accountIn(command: Command): string | undefined {
  return command.name === 'create-account' ? undefined : command.account;
}

async function lacks(target: Target, account: string): Promise<boolean> {
  const path = `/accounts/${encodeURIComponent(account)}/keys`;
  try {
    await ask(target, { method: 'GET', path, answer: AccountKeysAnswerShape });
    return false;
  } catch (error) {
    return error instanceof OperatorError && error.status === NOT_FOUND;
  }
}
