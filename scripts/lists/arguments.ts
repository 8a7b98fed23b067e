import { resolve } from 'node:path';
import { readCommandLine, UsageError } from '../../node/config/command-line.ts';
import { isListId, LIST_IDS, type ListId } from '../../node/screening/lists/list-id.ts';
import { type CommandForm, excludeEachOther, readCommand } from '../command-line.ts';

export const USAGE = `npm run lists -- COMMAND [options]

  import DIR   takes the lists of a folder, one sub-folder each, holding the official files
  update       looks at the configured sources now (LISTS_SOURCES)
  status       what is in force, how old it is, how the last look at its source went
  repeat FILE  an old screening once more, against the editions that its record names. FILE (- is stdin) holds one JSON
               object: attestationId, the name that was asked for, and the salt of the answer

  --list ID         this list, several times for several; without it all:
                    ${LIST_IDS.slice(0, 3).join(' ')}
                    ${LIST_IDS.slice(3).join(' ')}
  --accept-shrink   takes an edition that is more than a tenth smaller, or older, than the one in force, or cut off, or
                    that has rows without their entry
  --node ID         a node of the local cluster, several times for several; without it all of them
  --home DIR        instead: the home of a node on this machine (NODE_HOME)
  --json            one JSON object instead of a table

A list that the folder lacks stays as it is; so does one whose new edition is refused. Running nodes take an edition
without a restart. The nodes read DIR themselves, and speak over operator.sock.
Exit: 0 done on every node (status: every list is there; repeat: it comes to the same) · 1 not on every node, or not every
list (status: one is missing or older than seven days) · 2 wrong usage, or no cluster`;

export type Command =
  | { readonly name: 'import'; readonly directory: string; readonly acceptShrink: boolean }
  | { readonly name: 'update'; readonly acceptShrink: boolean }
  | { readonly name: 'status' }
  | { readonly name: 'repeat'; readonly file: string };

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
type Flag = keyof typeof OPTIONS;

/** Flags of every command. */
const COMMON = ['list', 'node', 'home', 'json'] as const;
const FORMS: Readonly<Record<Command['name'], CommandForm<Flag>>> = {
  import: { words: 1, flags: ['accept-shrink', ...COMMON] },
  update: { words: 0, flags: ['accept-shrink', ...COMMON] },
  status: { words: 0, flags: COMMON },
  repeat: { words: 1, flags: ['node', 'home', 'json'] },
};

/** What the command line asks for; null: help. Throws `UsageError`. */
export function readArguments(args: readonly string[]): Arguments | null {
  const { values: flags, positionals } = readCommandLine(args, OPTIONS);
  if (flags.help === true) return null;
  const { name, words } = readCommand(positionals, flags, FORMS);
  excludeEachOther(flags, 'home', 'node');
  const { list = [], node: nodes = [], home, json = false, 'accept-shrink': acceptShrink = false } = flags;
  const command = commandOf(name, words[0] ?? '', acceptShrink);
  return { command, lists: list.length === 0 ? LIST_IDS : list.map(listOf), nodes, home, json };
}

function commandOf(name: Command['name'], path: string, acceptShrink: boolean): Command {
  switch (name) {
    case 'import':
      return { name, directory: resolve(path), acceptShrink };
    case 'update':
      return { name, acceptShrink };
    case 'status':
      return { name };
    case 'repeat':
      return { name, file: path };
  }
}

function listOf(text: string): ListId {
  if (isListId(text)) return text;
  throw new UsageError(`${text} is no list; there are ${LIST_IDS.join(' ')}`);
}
