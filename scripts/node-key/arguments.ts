import { readCommandLine, UsageError } from '../../node/config/command-line.ts';
import { isSha256Hash, type Sha256Hash } from '../../protocol/hash.ts';
import { readRfc3339, TimeError, type Timestamp, timestampOf } from '../../protocol/time.ts';
import { type FlagsOf, requireNodeOrHome } from '../command-line.ts';

export const USAGE = `npm run node-key -- COMMAND (--node ID | --home DIR) [--json]

  show          the node's signing keys: which signs, since when, which were revoked, when the ledger named them
  rotate        another signing key from the next group on; the node runs on
  revoke        [--key KEY_ID] [--since TIME | --rotated] --reason TEXT
                withdraws a signing key, the one in use unless --key names one. What it signed counts where its batch
                reached consensus before --since (default: now), and no revocation reaches further back than the roster
                in force says; with --rotated all of it counts. A key in use is replaced first. The reason goes to the
                node's log alone
  fallen        [--key KEY_ID]
                the node's records that count no more because a key under them was compromised: attest these again
  revocations   [--out FILE]
                the revocations in force of all members, with what proves them: the file that npm run verify takes as
                --revocations, for whoever has bundles of before
  encrypt       --home DIR --passphrase-file FILE
                puts the key files of a stopped node under a passphrase. NODE_KEY_PASSPHRASE_FILE names the file of the
                one that they are under already, if any

  --node ID     a node of the local cluster
  --home DIR    instead: the home of a node on this machine (NODE_HOME)

It speaks to a running node over operator.sock; the identity key signs there and leaves the node never.
Exit: 0 done · 1 refused, or the node does not answer, or took it and answers as another version does: show tells then
what came of it · 2 wrong usage`;

const COMMANDS = ['show', 'rotate', 'revoke', 'fallen', 'revocations', 'encrypt'] as const;

export type Command =
  | { readonly name: 'show' | 'rotate' }
  | { readonly name: 'revocations'; readonly out: string | undefined }
  | {
      readonly name: 'revoke';
      readonly key?: Sha256Hash;
      /** Null of a key that is rotated. */
      readonly since?: Timestamp | null;
      readonly note: string;
    }
  | { readonly name: 'fallen'; readonly key?: Sha256Hash }
  | { readonly name: 'encrypt'; readonly passphraseFile: string };

export interface Arguments {
  readonly command: Command;
  readonly node: string | undefined;
  readonly home: string | undefined;
  readonly json: boolean;
}

const OPTIONS = {
  node: { type: 'string' },
  home: { type: 'string' },
  json: { type: 'boolean', default: false },
  key: { type: 'string' },
  since: { type: 'string' },
  rotated: { type: 'boolean', default: false },
  reason: { type: 'string' },
  out: { type: 'string' },
  'passphrase-file': { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

type Flags = FlagsOf<typeof OPTIONS>;

/** Null where help was asked for. Throws `UsageError`. */
export function readArguments(args: readonly string[]): Arguments | null {
  const { values: flags, positionals } = readCommandLine(args, OPTIONS);
  if (flags.help) return null;
  const [name, ...rest] = positionals;
  const { node, home, json } = flags;
  requireNodeOrHome(flags);
  if (rest.length > 0) throw new UsageError(`what is ${rest.join(' ')}?`);
  return { command: commandOf(name, flags), node, home, json };
}

function commandOf(name: string | undefined, flags: Flags): Command {
  const known = COMMANDS.find((candidate) => candidate === name);
  if (known === undefined) throw new UsageError(`a command is one of ${COMMANDS.join(' ')}`);
  if (known === 'revocations') return { name: known, out: flags.out };
  if (flags.out !== undefined) throw new UsageError('revocations alone takes --out');
  if (known === 'revoke') return revokeOf(flags);
  if (known === 'fallen') return { name: known, ...keyOf(flags) };
  if (known !== 'encrypt') return { name: known };
  const { home, 'passphrase-file': passphraseFile } = flags;
  if (home === undefined || passphraseFile === undefined) {
    throw new UsageError('encrypt takes --home and --passphrase-file');
  }
  return { name: known, passphraseFile };
}

function keyOf({ key }: Flags): { readonly key?: Sha256Hash } {
  if (key === undefined) return {};
  if (!isSha256Hash(key)) throw new UsageError('--key is a key id, sha256:…');
  return { key };
}

function revokeOf(flags: Flags): Command {
  const { since, rotated, reason } = flags;
  if (reason === undefined) throw new UsageError('revoke takes --reason');
  if (rotated && since !== undefined) throw new UsageError('a rotated key has no --since: all that it signed stands');
  return {
    name: 'revoke',
    note: reason,
    ...keyOf(flags),
    ...(rotated ? { since: null } : {}),
    ...(since === undefined ? {} : { since: timeOf(since) }),
  };
}

function timeOf(text: string): Timestamp {
  try {
    return timestampOf(readRfc3339(text));
  } catch (error) {
    if (error instanceof TimeError) throw new UsageError(`--since is ${error.message}`);
    throw error;
  }
}
