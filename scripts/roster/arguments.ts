import { type CommandForm, type FlagsOf, readCommand, readCommandLine } from '../command-line.ts';
import { UsageError } from '../usage-error.ts';

export const USAGE = `npm run roster -- COMMAND [options]

  member   --home DIR --node ID --region TEXT --base-url URL --peer MULTIADDR… [--out FILE]
           what a node brings to a roster; makes the keys that its home lacks
  init     MEMBER… --name TEXT --quorum N --network NAME --topic 0.0.N [--out FILE]
           an unsigned genesis roster
  propose  [--add MEMBER]… [--remove ID]… [--move MEMBER]… [--quorum N] [SOURCE] [--out FILE]
           an unsigned next roster
  sign     PROPOSAL --home DIR [SOURCE] [--insist] [--out FILE]
           adds the signature of the node of that home, which asks its running node where there is one; in the file
           itself without --out
  publish  PROPOSAL… (--home DIR | --node ID)   gives the roster to a running node, which tells the others
  publish  PROPOSAL… [--roster FILE] --out FILE writes the roster file that nodes start with
  show     [FILE] [SOURCE] [--out FILE] [--json]

  MEMBER, PROPOSAL   files made by these commands; several copies of a proposal, signed apart, are joined
  SOURCE             --roster FILE, --home DIR of a running node, or --node ID of the local cluster
  --insist           sign though the node signed another roster of that version

No command shows or sends a key: files are carried between operators, keys never.
Exit: 0 done · 1 refused, or signatures are missing · 2 wrong usage, or a file that cannot be read`;

export type CommandName = 'member' | 'init' | 'propose' | 'sign' | 'publish' | 'show';

const OPTIONS = {
  home: { type: 'string' },
  node: { type: 'string' },
  region: { type: 'string' },
  'base-url': { type: 'string' },
  peer: { type: 'string', multiple: true },
  name: { type: 'string' },
  quorum: { type: 'string' },
  network: { type: 'string' },
  topic: { type: 'string' },
  add: { type: 'string', multiple: true },
  remove: { type: 'string', multiple: true },
  move: { type: 'string', multiple: true },
  roster: { type: 'string' },
  insist: { type: 'boolean' },
  out: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;
export type Flags = FlagsOf<typeof OPTIONS>;
type Flag = keyof typeof OPTIONS;

const SOURCE: readonly Flag[] = ['roster', 'home', 'node'];
const FORMS: Readonly<Record<CommandName, CommandForm<Flag>>> = {
  member: { flags: ['home', 'node', 'region', 'base-url', 'peer', 'out'] },
  init: { flags: ['name', 'quorum', 'network', 'topic', 'out'] },
  propose: { flags: ['add', 'remove', 'move', 'quorum', ...SOURCE, 'out'] },
  sign: { flags: ['insist', ...SOURCE, 'out'] },
  publish: { flags: [...SOURCE, 'out'] },
  show: { flags: [...SOURCE, 'out', 'json'] },
};

export interface Arguments {
  readonly name: CommandName;
  readonly files: readonly string[];
  readonly flags: Flags;
}

/** What the command line asks for; null: help. Throws `UsageError`. */
export function readArguments(args: readonly string[]): Arguments | null {
  const { values: flags, positionals } = readCommandLine(args, OPTIONS);
  if (flags.help === true) return null;
  const { name, words: files } = readCommand(positionals, flags, FORMS);
  return { name, files, flags };
}

/** The value of a flag that a command cannot do without. Throws `UsageError`. */
export function required(
  flags: Flags,
  flag: 'home' | 'node' | 'region' | 'base-url' | 'name' | 'network' | 'topic',
): string {
  const { [flag]: value } = flags;
  if (value === undefined || value === '') throw new UsageError(`--${flag} is missing`);
  return value;
}

/** Throws `UsageError`. */
export function quorumOf(text: string | undefined): number {
  const quorum = Number(text);
  if (Number.isSafeInteger(quorum) && quorum >= 1) return quorum;
  throw new UsageError('--quorum is the number of witnesses and of signatures, from 1 on');
}
