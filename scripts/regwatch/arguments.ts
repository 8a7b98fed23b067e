import { readCommandLine, UsageError } from '../../node/config/command-line.ts';
import { REG_ITEM_ID_PATTERN } from '../../protocol/api/regwatch-words.ts';
import { type CommandForm, excludeEachOther, type FlagsOf, readCommand } from '../command-line.ts';

export const USAGE = `npm run regwatch -- COMMAND [options]

  status
  add FILE.json               one item, or an array of items
  correct ITEM FILE.json      the members of the item that are to be others
  ingest FILE --source ID     a feed, or a page of the Federal Register API; of a source that is not configured also
         --authority NAME [--jurisdictions EU,…] [--frameworks ID,…] [--format federal-register] [--time-zone ZONE]

  --node ID          a node of the local cluster, several times for several; without it all of them
  --home DIR         instead: the home of a node on this machine (NODE_HOME)
  --json             one JSON object instead of lines

An item: {title, authority, jurisdictions, frameworks, instrumentType, status, id or sourceUrl, and perhaps summary,
citation, publishedAt, effectiveAt, keyDates, sample}. What becomes new or other is attested; what is the same is not.
Exit: 0 done on every node · 1 not on every node · 2 wrong usage, or no cluster`;

export type Command =
  | { readonly name: 'status' }
  | { readonly name: 'add'; readonly file: string }
  | { readonly name: 'correct'; readonly item: string; readonly file: string }
  | { readonly name: 'ingest'; readonly file: string; readonly source: SourceFlags };

/** As the node reads it. */
export interface SourceFlags {
  readonly id: string;
  readonly authority?: string;
  readonly jurisdictions?: readonly string[];
  readonly frameworks?: readonly string[];
  readonly format?: string;
  readonly timeZone?: string;
}

export interface Arguments {
  readonly command: Command;
  readonly nodes: readonly string[];
  readonly home: string | undefined;
  readonly json: boolean;
}

const OPTIONS = {
  source: { type: 'string' },
  authority: { type: 'string' },
  jurisdictions: { type: 'string' },
  frameworks: { type: 'string' },
  format: { type: 'string' },
  'time-zone': { type: 'string' },
  node: { type: 'string', multiple: true },
  home: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;
type Flags = FlagsOf<typeof OPTIONS>;
type Flag = keyof typeof OPTIONS;

/** Flags of every command. */
const COMMON = ['node', 'home', 'json'] as const;
const FORMS: Readonly<Record<Command['name'], CommandForm<Flag>>> = {
  status: { words: 0, flags: COMMON },
  add: { words: 1, flags: COMMON },
  correct: { words: 2, flags: COMMON },
  ingest: {
    words: 1,
    flags: ['source', 'authority', 'jurisdictions', 'frameworks', 'format', 'time-zone', ...COMMON],
  },
};
const ITEM = new RegExp(REG_ITEM_ID_PATTERN);

/** What the command line asks for; null: help. Throws `UsageError`. */
export function readArguments(args: readonly string[]): Arguments | null {
  const { values: flags, positionals } = readCommandLine(args, OPTIONS);
  if (flags.help === true) return null;
  const { name, words } = readCommand(positionals, flags, FORMS);
  excludeEachOther(flags, 'home', 'node');
  const { node: nodes = [], home, json = false } = flags;
  return { command: commandOf(name, words, flags), nodes, home, json };
}

function commandOf(name: Command['name'], [first = '', second = '']: readonly string[], flags: Flags): Command {
  switch (name) {
    case 'status':
      return { name };
    case 'add':
      return { name, file: first };
    case 'correct':
      if (!ITEM.test(first)) throw new UsageError(`${first} is not the id of an item (rgi_…)`);
      return { name, item: first, file: second };
    case 'ingest':
      return { name, file: first, source: sourceOf(flags) };
  }
}

function sourceOf({ source, authority, jurisdictions, frameworks, format, 'time-zone': timeZone }: Flags): SourceFlags {
  if (source === undefined) throw new UsageError('--source is missing');
  return {
    id: source,
    ...(authority === undefined ? {} : { authority }),
    ...(jurisdictions === undefined ? {} : { jurisdictions: jurisdictions.split(',') }),
    ...(frameworks === undefined ? {} : { frameworks: frameworks.split(',') }),
    ...(format === undefined ? {} : { format }),
    ...(timeZone === undefined ? {} : { timeZone }),
  };
}
