import { readCommandLine, UsageError } from '../../node/config/command-line.ts';
import { type CommandForm, type FlagsOf, readCommand } from '../command-line.ts';

export const USAGE = `npm run roster -- COMMAND [options]

  member   --home DIR --node ID --region TEXT --base-url URL --peer MULTIADDR… --account 0.0.N… [--out FILE]
           what a node brings to a roster, with the ledger accounts that pay for its messages; makes the keys that its
           home lacks
  init     MEMBER… --name TEXT --quorum N --network NAME --topic 0.0.N [--reach SECONDS] [--out FILE]
           an unsigned genesis roster; says what the federation stands with each quorum
  propose  [--add MEMBER]… [--remove ID]… [--move MEMBER]… [--quorum N] [--reach SECONDS] [SOURCE] [--out FILE]
           a next roster; --move gives a member other addresses, accounts or another identity key
  sign     PROPOSAL --home DIR [--out FILE]
           adds the signature of the node of that home to a genesis roster; in the file itself without --out
  name     PROPOSAL (--home DIR | --node ID)
           has a running node sign the next roster and name it on the ledger; once a majority of the members has, it is in
           force everywhere. Of several that a node names the last one counts
  publish  PROPOSAL… [--roster FILE] --out FILE
           writes the roster file that nodes start with: a genesis roster that all its members signed, or the rosters of
           FILE and the next one; says the federation's fingerprint, which others pin, in 24 words too
  show     [FILE] [SOURCE] [--decisions] [--out FILE] [--json]
           the rosters that are known, and what members have named to follow, and the fingerprint; --out writes the roster
           file. --decisions asks a running node for those in force with their decisions, the file that npm run verify takes
           as --roster

  MEMBER, PROPOSAL   files made by these commands; several copies of a genesis roster, signed apart, are joined
  --quorum           members besides the origin that must say a thing before it is verified; 0 in a federation of one
  --reach            how far back a revocation may reach from its own consensus time (default: 30 days)
  SOURCE             --roster FILE, --home DIR of a running node, or --node ID of the local cluster

No command shows or sends a key: files are carried between operators, keys never.
Exit: 0 done · 1 refused, or signatures are missing · 2 wrong usage, or a file that cannot be read`;

export type CommandName = 'member' | 'init' | 'propose' | 'sign' | 'name' | 'publish' | 'show';

const OPTIONS = {
  home: { type: 'string' },
  node: { type: 'string' },
  region: { type: 'string' },
  'base-url': { type: 'string' },
  peer: { type: 'string', multiple: true },
  account: { type: 'string', multiple: true },
  name: { type: 'string' },
  quorum: { type: 'string' },
  reach: { type: 'string' },
  network: { type: 'string' },
  topic: { type: 'string' },
  add: { type: 'string', multiple: true },
  remove: { type: 'string', multiple: true },
  move: { type: 'string', multiple: true },
  roster: { type: 'string' },
  out: { type: 'string' },
  decisions: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;
export type Flags = FlagsOf<typeof OPTIONS>;
type Flag = keyof typeof OPTIONS;

const SOURCE: readonly Flag[] = ['roster', 'home', 'node'];
const FORMS: Readonly<Record<CommandName, CommandForm<Flag>>> = {
  member: { flags: ['home', 'node', 'region', 'base-url', 'peer', 'account', 'out'] },
  init: { flags: ['name', 'quorum', 'network', 'topic', 'reach', 'out'] },
  propose: { flags: ['add', 'remove', 'move', 'quorum', 'reach', ...SOURCE, 'out'] },
  sign: { flags: ['home', 'out'] },
  name: { flags: ['home', 'node'] },
  publish: { flags: ['roster', 'out'] },
  show: { flags: [...SOURCE, 'decisions', 'out', 'json'] },
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
  flag: 'home' | 'node' | 'region' | 'base-url' | 'name' | 'network' | 'topic' | 'out',
): string {
  const { [flag]: value } = flags;
  if (value === undefined || value === '') throw new UsageError(`--${flag} is missing`);
  return value;
}

/** Members besides the origin that must say a thing before it is verified. Throws `UsageError`. */
export function quorumOf({ quorum }: Flags): number {
  return countOf(quorum, '--quorum is the number of members that must say a thing besides the origin');
}

/** How far back a revocation may reach, in seconds; undefined where the flag is not given. Throws `UsageError`. */
export function reachOf({ reach }: Flags): number | undefined {
  return reach === undefined ? undefined : countOf(reach, '--reach is a number of seconds');
}

function countOf(text: string | undefined, otherwise: string): number {
  const count = Number(text);
  if (text !== undefined && text.trim() !== '' && Number.isSafeInteger(count) && count >= 0) return count;
  throw new UsageError(otherwise);
}
