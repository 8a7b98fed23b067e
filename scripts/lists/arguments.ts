import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isListId, LIST_IDS, type ListId } from '../../node/lists/list-id.ts';
import { UsageError } from '../usage-error.ts';

export const USAGE = `npm run lists -- COMMAND [options]

  import DIR   takes the lists of a folder, one sub-folder each, holding the official files
  update       looks at the configured sources now (LISTS_SOURCES)
  status       what is in force, how old it is, how the last look at its source went

  --list ID         this list, several times for several; without it all:
                    ${LIST_IDS.slice(0, 3).join(' ')}
                    ${LIST_IDS.slice(3).join(' ')}
  --accept-shrink   takes an edition that is more than a tenth smaller than the one in force
  --node ID         a node of the local cluster, several times for several; without it all of them
  --home DIR        instead: the home of a node on this machine (NODE_HOME)
  --json            one JSON object instead of a table

A list that the folder lacks stays as it is; so does one whose new edition is refused. Running nodes take an edition
without a restart. The nodes read DIR themselves, and speak over operator.sock.
Exit: 0 done on every node (status: every list is there) · 1 not on every node, or not every list (status: one is missing
or older than seven days) · 2 wrong usage, or no cluster`;

export type Command =
  | { readonly name: 'import'; readonly directory: string; readonly acceptShrink: boolean }
  | { readonly name: 'update'; readonly acceptShrink: boolean }
  | { readonly name: 'status' };

export interface Arguments {
  readonly command: Command;
  readonly lists: readonly ListId[];
  readonly nodes: readonly string[];
  readonly home: string | undefined;
  readonly json: boolean;
}

const OPTIONS = {
  list: { type: 'string', multiple: true },
  'accept-shrink': { type: 'boolean' },
  node: { type: 'string', multiple: true },
  home: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;
const OPERANDS: Readonly<Record<Command['name'], number>> = { import: 1, update: 0, status: 0 };

/** What the command line asks for; null: help. Throws `UsageError`. */
export function readArguments(args: readonly string[]): Arguments | null {
  const { values: flags, positionals } = parsed(args);
  if (flags.help === true) return null;
  const [name = '', ...operands] = positionals;
  if (!isCommand(name)) throw new UsageError(name === '' ? 'which command?' : `there is no command ${name}`);
  if (operands.length !== OPERANDS[name]) {
    throw new UsageError(`${name} takes ${OPERANDS[name]} words, not ${operands.length}`);
  }
  const { list = [], node: nodes = [], home, json = false, 'accept-shrink': acceptShrink = false } = flags;
  if (home !== undefined && nodes.length > 0) throw new UsageError('--home and --node exclude each other');
  if (name === 'status' && acceptShrink) throw new UsageError('status takes no --accept-shrink');
  const command = commandOf(name, operands[0] ?? '', acceptShrink);
  return { command, lists: list.length === 0 ? LIST_IDS : list.map(listOf), nodes, home, json };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function commandOf(name: Command['name'], operand: string, acceptShrink: boolean): Command {
  switch (name) {
    case 'import':
      return { name, directory: resolve(operand), acceptShrink };
    case 'update':
      return { name, acceptShrink };
    case 'status':
      return { name };
  }
}

function isCommand(name: string): name is Command['name'] {
  return Object.hasOwn(OPERANDS, name);
}

function listOf(text: string): ListId {
  if (isListId(text)) return text;
  throw new UsageError(`${text} is no list; there are ${LIST_IDS.join(' ')}`);
}
