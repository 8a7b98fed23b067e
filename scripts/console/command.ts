import { once } from 'node:events';
import { readCommandLine, UsageError, usageLine } from '../../node/config/command-line.ts';
import { OperatorError, operatorRequest } from '../../node/operator/operator-client.ts';
import { SIGNING_KEYS_PATH } from '../../node/operator/signing-key-routes.ts';
import { reasonOf } from '../key/ask.ts';
import { findTargets, type Target } from '../key/targets.ts';
import { OperatorConsole } from './operator-console.ts';

const USAGE = `npm run console -- --node ID

Shows an operator's screens of a running node in a browser on this machine: members and checkpoints, the way to the
ledger and what it costs, lists, the feed, storage, payments, faults, keys. Prints a link that works once; it ends when
the command does.

  --node ID    a node of the local cluster
  --home DIR   instead: the home of a node on this machine (NODE_HOME)

Exit: 0 ended by you · 2 wrong usage, no such node, or one that does not run`;

const OPTIONS = {
  node: { type: 'string' },
  home: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export interface Terminal {
  out(line: string): void;
  err(line: string): void;
}

/** The `console` command: serves until the signal ends it. */
export async function consoleCommand(args: readonly string[], terminal: Terminal, signal: AbortSignal): Promise<0 | 2> {
  try {
    const { values: flags } = readCommandLine(args, OPTIONS);
    if (flags.help === true) {
      terminal.out(USAGE);
      return 0;
    }
    if ((flags.node === undefined) === (flags.home === undefined)) {
      throw new UsageError('name one node, by --node or --home');
    }
    const [target] = await findTargets(flags.home, flags.node === undefined ? [] : [flags.node]);
    if (target === undefined) throw new UsageError('there is no such node');
    await requireRunning(target);
    await using running = await OperatorConsole.start(target);
    terminal.out(`the console of ${target.node}, for you alone, until you end this command; the link works once:`);
    terminal.out(running.link);
    if (!signal.aborted) await once(signal, 'abort');
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.err(usageLine(error, 'console'));
    return 2;
  }
}

/** Throws `UsageError` where no node listens. One that refuses to answer does. */
async function requireRunning({ node, socket }: Target): Promise<void> {
  try {
    await operatorRequest(socket, 'GET', SIGNING_KEYS_PATH);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw new UsageError(`${node}: ${reasonOf(error)}`);
  }
}
