import { isMailReader, type MailReader } from '../../protocol/api/people.ts';
import { type Tier, TIERS } from '../../node/accounts/account.ts';
import { isKeyId, type KeyId } from '../../node/accounts/key-id.ts';
import type { KeyRequest } from '../../node/accounts/key-terms.ts';
import { type KeyPreset, PRESET_NAMES, type Scope, SCOPES } from '../../node/accounts/scopes.ts';
import { readCommandLine, UsageError } from '../../node/config/command-line.ts';
import { isNodeId } from '../../protocol/ids.ts';
import { timestampOf } from '../../protocol/time.ts';
import { type CommandForm, excludeEachOther, type FlagsOf, readCommand } from '../command-line.ts';

export const USAGE = `npm run key -- COMMAND [options]

  create-account [--id ID] --tier TIER [--name NAME] [--email ADDRESS] [--compress-payloads] [--nodes eu,us,…]
  create --account ID (--preset PRESET | --scopes S,…) [--name NAME] [--source ID]…
         [--addresses IP or CIDR,…] [--expires TIME or 90d] [--key-from-stdin --key-id KEY_ID]
  list [--account ID]
  rotate KEY_ID --account ID [--overlap 24h]
  revoke KEY_ID --account ID
  set-tier ACCOUNT TIER
  set-compression ACCOUNT on|off
  set-nodes ACCOUNT eu,us,…
  restate ACCOUNT
  remove-second-factors ACCOUNT owner|PERSON

  TIER      ${TIERS.join(' ')}
  PRESET    ${PRESET_NAMES.join(' ')}
  SCOPE     ${SCOPES.join(' ')}
  --node ID          a node of the local cluster, several times for several; without it all that have the account
  --home DIR         instead: the home of a node on this machine (NODE_HOME)
  --json             one JSON object instead of tables
  --compress-payloads  of an account: its payloads take half the room, and their lengths tell little
  --nodes            where the keys of the account work, its home among them; the account is made at its home
                     alone: the node of --id, else the first. Each of them is trusted with the keys
  restate            of a restored node: the account's keys are right as they stand, and are given to its nodes
  remove-second-factors  of somebody who lost them: a mailed link alone signs them in from then on
  --key-from-stdin   gives a node the key that others know already, under its id

The text of a key is printed once, on stdout; no node keeps it. It speaks to running nodes over operator.sock.
Exit: 0 done on every node · 1 not on every node · 2 wrong usage, or no cluster`;

export type Command =
  | { readonly name: 'create-account'; readonly id?: string; readonly tier: Tier; readonly terms: AccountTerms }
  | {
      readonly name: 'create';
      readonly account: string;
      readonly request: KeyRequest;
      /** Of a key whose text comes on stdin. */
      readonly knownAs?: KeyId;
    }
  | { readonly name: 'list'; readonly account?: string }
  | { readonly name: 'rotate'; readonly account: string; readonly key: KeyId; readonly overlapSeconds?: number }
  | { readonly name: 'revoke'; readonly account: string; readonly key: KeyId }
  | { readonly name: 'set-tier'; readonly account: string; readonly tier: Tier }
  | { readonly name: 'set-compression'; readonly account: string; readonly compressPayloads: boolean }
  | { readonly name: 'set-nodes'; readonly account: string; readonly nodes: readonly string[] }
  | { readonly name: 'restate'; readonly account: string }
  | { readonly name: 'remove-second-factors'; readonly account: string; readonly holder: MailReader };

/** What an account may have beside its tier. */
export interface AccountTerms {
  readonly name?: string;
  readonly email?: string;
  readonly compressPayloads?: true;
  readonly nodes?: readonly string[];
}

export interface Arguments {
  readonly command: Command;
  readonly nodes: readonly string[];
  readonly home: string | undefined;
  readonly json: boolean;
}

const OPTIONS = {
  id: { type: 'string' },
  tier: { type: 'string' },
  name: { type: 'string' },
  email: { type: 'string' },
  'compress-payloads': { type: 'boolean' },
  nodes: { type: 'string' },
  account: { type: 'string' },
  preset: { type: 'string' },
  scopes: { type: 'string' },
  source: { type: 'string', multiple: true },
  addresses: { type: 'string' },
  expires: { type: 'string' },
  overlap: { type: 'string' },
  'key-from-stdin': { type: 'boolean' },
  'key-id': { type: 'string' },
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
  'create-account': { words: 0, flags: ['id', 'tier', 'name', 'email', 'compress-payloads', 'nodes', ...COMMON] },
  create: {
    words: 0,
    flags: [
      'account',
      'preset',
      'scopes',
      'name',
      'source',
      'addresses',
      'expires',
      'key-from-stdin',
      'key-id',
      ...COMMON,
    ],
  },
  list: { words: 0, flags: ['account', ...COMMON] },
  rotate: { words: 1, flags: ['account', 'overlap', ...COMMON] },
  revoke: { words: 1, flags: ['account', ...COMMON] },
  'set-tier': { words: 2, flags: COMMON },
  'set-compression': { words: 2, flags: COMMON },
  'set-nodes': { words: 2, flags: COMMON },
  restate: { words: 1, flags: COMMON },
  'remove-second-factors': { words: 2, flags: COMMON },
};
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** What the command line asks for; null: help. `now` in epoch milliseconds. Throws `UsageError`. */
export function readArguments(args: readonly string[], now: number): Arguments | null {
  const { values: flags, positionals } = readCommandLine(args, OPTIONS);
  if (flags.help === true) return null;
  const { name, words } = readCommand(positionals, flags, FORMS);
  excludeEachOther(flags, 'home', 'node');
  const { node: nodes = [], home, json = false } = flags;
  return { command: commandOf(name, words, flags, now), nodes, home, json };
}

function commandOf(
  name: Command['name'],
  [first = '', second = '']: readonly string[],
  flags: Flags,
  now: number,
): Command {
  switch (name) {
    case 'create-account':
      return {
        name,
        ...(flags.id === undefined ? {} : { id: flags.id }),
        tier: tierOf(flags.tier ?? ''),
        terms: termsOf(flags),
      };
    case 'create':
      return { name, account: accountOf(flags), request: requestOf(flags, now), ...knownAs(flags) };
    case 'list':
      return { name, ...(flags.account === undefined ? {} : { account: flags.account }) };
    case 'rotate':
      return { name, account: accountOf(flags), key: keyOf(first), ...overlapOf(flags) };
    case 'revoke':
      return { name, account: accountOf(flags), key: keyOf(first) };
    case 'set-tier':
      return { name, account: first, tier: tierOf(second) };
    case 'set-compression':
      return { name, account: first, compressPayloads: switchOf(second) };
    case 'set-nodes':
      return { name, account: first, nodes: nodesOf(second) };
    case 'restate':
      return { name, account: first };
    case 'remove-second-factors':
      return { name, account: first, holder: holderOf(second) };
  }
}

function termsOf({ name, email, 'compress-payloads': compressPayloads = false, nodes }: Flags): AccountTerms {
  return {
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email }),
    ...(compressPayloads ? { compressPayloads } : {}),
    ...(nodes === undefined ? {} : { nodes: nodesOf(nodes) }),
  };
}

function holderOf(text: string): MailReader {
  if (isMailReader(text)) return text;
  throw new UsageError(`${text} is neither owner nor the id of a person (per_eu_…)`);
}

function switchOf(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new UsageError('compression is on or off');
  return text === 'on';
}

function nodesOf(text: string): string[] {
  const nodes = list(text);
  if (nodes.length > 0 && nodes.every(isNodeId)) return nodes;
  throw new UsageError('nodes are names of members with commas between, as in eu,us');
}

function accountOf({ account }: Flags): string {
  if (account === undefined || account === '') throw new UsageError('--account is missing');
  return account;
}

function keyOf(text: string): KeyId {
  if (isKeyId(text)) return text;
  throw new UsageError(`${text} is not the id of a key (key_eu_…)`);
}

function tierOf(text: string): Tier {
  const tier = TIERS.find((candidate) => candidate === text);
  if (tier === undefined) throw new UsageError(`a tier is one of ${TIERS.join(' ')}`);
  return tier;
}

function requestOf({ preset, scopes, name, source, addresses, expires }: Flags, now: number): KeyRequest {
  if ((preset === undefined) === (scopes === undefined)) throw new UsageError('give --preset or --scopes');
  return {
    ...(preset === undefined ? { scopes: list(scopes ?? '').map(scopeOf) } : { preset: presetOf(preset) }),
    ...(name === undefined ? {} : { name }),
    ...(source === undefined ? {} : { sources: source }),
    ...(addresses === undefined ? {} : { addresses: list(addresses) }),
    ...(expires === undefined ? {} : { expiresAt: timeOf(expires, now) }),
  };
}

function presetOf(text: string): KeyPreset {
  const preset = PRESET_NAMES.find((candidate) => candidate === text);
  if (preset === undefined) throw new UsageError(`a preset is one of ${PRESET_NAMES.join(' ')}`);
  return preset;
}

function scopeOf(text: string): Scope {
  const scope = SCOPES.find((candidate) => candidate === text);
  if (scope === undefined) throw new UsageError(`a scope is one of ${SCOPES.join(' ')}`);
  return scope;
}

function knownAs(flags: Flags): { readonly knownAs?: KeyId } {
  const { 'key-from-stdin': fromStdin = false, 'key-id': id } = flags;
  if (fromStdin !== (id !== undefined)) throw new UsageError('--key-from-stdin and --key-id go together');
  return id === undefined ? {} : { knownAs: keyOf(id) };
}

function overlapOf({ overlap }: Flags): { readonly overlapSeconds?: number } {
  if (overlap === undefined) return {};
  const seconds = overlap === '0' ? 0 : secondsOf(overlap);
  if (seconds === undefined) throw new UsageError('--overlap is 0, or a number and s, m, h or d, as in 24h');
  return { overlapSeconds: seconds };
}

/** `90d` from now on, or the time itself, which the node reads. */
function timeOf(text: string, now: number): string {
  const seconds = secondsOf(text);
  return seconds === undefined ? text : timestampOf(now + seconds * 1000);
}

function secondsOf(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (UNIT_SECONDS[unit] ?? 0);
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
