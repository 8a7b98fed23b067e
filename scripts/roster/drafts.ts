import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { UsageError } from '../../node/config/command-line.ts';
import { createKeyFile, KEY_FILE_PURPOSES, keyFilePath, readKeyFile } from '../../node/keys/key-file.ts';
import { nativeSigner, nativeSuite } from '../../node/keys/native-suite.ts';
import type { Passphrase } from '../../node/keys/passphrase.ts';
import { TransportError } from '../../node/transport/errors.ts';
import { peerIdOfSeed } from '../../node/transport/identity.ts';
import { requireReachable } from '../../node/transport/read-members.ts';
import { entityId, IdError, type NodeId, nodeId } from '../../protocol/ids.ts';
import type { RosterChain } from '../../protocol/keys/roster-chain.ts';
import type { SignedRoster } from '../../protocol/keys/signed-roster.ts';
import { RosterError } from '../../protocol/log/roster-error.ts';
import { judgeGenesis } from '../../protocol/log/roster-rules.ts';
import { type Member, type Roster, rosterStatement } from '../../protocol/log/roster.ts';
import { encodeSignature } from '../../protocol/statement/statement.ts';
import { timestampOf } from '../../protocol/time.ts';
import { workOnPath } from '../command-line.ts';
import { homePassphrase } from '../node-key/home-passphrase.ts';

/** How the rosters after a change differ from those before. */
export interface Change {
  readonly add: readonly Member[];
  readonly remove: readonly string[];
  readonly move: readonly Member[];
  readonly quorum: number | undefined;
  /** In seconds. */
  readonly reach: number | undefined;
}

/** What a node brings to a roster. Makes the keys that its home has not got yet. */
export async function memberOf(
  home: string,
  node: string,
  place: Pick<Member, 'region' | 'baseUrl' | 'multiaddrs'> & { readonly accounts: readonly string[] },
): Promise<Member> {
  if (place.accounts.length === 0) throw new UsageError('--account is missing');
  const named = {
    node: idOf(node),
    ...place,
    accounts: place.accounts.map((account) => orUsage(() => entityId(account))),
  };
  requirePlace(named);
  const directory = join(home, 'keys');
  const passphrase = await homePassphrase();
  await workOnPath(home, () => makeMissingKeys(directory, passphrase));
  const member: Member = {
    ...named,
    peerId: await peerIdOfSeed(await readKeyFile(directory, 'peer', passphrase)),
    identityKey: encodeSignature(nativeSigner(await readKeyFile(directory, 'identity', passphrase)).publicKey),
  };
  orUsage(() => requireReachable([member]));
  return member;
}

async function makeMissingKeys(directory: string, passphrase: Passphrase | null): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const purpose of KEY_FILE_PURPOSES) {
    if (!existsSync(keyFilePath(directory, purpose))) await createKeyFile(directory, purpose, passphrase);
  }
}

/** What founders agree on beside who they are. */
export interface GenesisTerms {
  readonly name: string;
  readonly quorum: number;
  readonly network: string;
  readonly topic: string;
  /** In seconds. */
  readonly reach: number;
}

/** An unsigned genesis roster. Throws `UsageError`. */
export function genesisDraft(members: readonly Member[], terms: GenesisTerms): SignedRoster {
  const { name, quorum, network, topic, reach } = terms;
  if (network.includes('/')) throw new UsageError(`--network ${network}: a name of a network has no /`);
  return draftOf(
    {
      v: 2,
      type: 'roster',
      name,
      version: 1,
      previous: null,
      quorum,
      members: [...members],
      ledger: { network, topicId: orUsage(() => entityId(topic)) },
      revocationReach: reach,
      issuedAt: timestampOf(Date.now()),
    },
    judgeGenesis,
  );
}

/** An unsigned roster that follows the one in force. Throws `UsageError`. */
export function nextDraft(chain: RosterChain, { add, remove, move, quorum, reach }: Change): SignedRoster {
  // A roster in force says nothing of the federation that its genesis goes on from.
  const { continues: _, ...current } = chain.current;
  const strange = [...remove, ...move.map(({ node }) => node)].find(
    (node) => !current.members.some((member) => member.node === node),
  );
  if (strange !== undefined) throw new UsageError(`${strange} is no member`);
  const members = current.members
    .filter(({ node }) => !remove.includes(node))
    .map((member) => move.find(({ node }) => node === member.node) ?? member);
  const next: Roster = {
    ...current,
    version: current.version + 1,
    previous: chain.hash,
    quorum: quorum ?? current.quorum,
    members: [...members, ...add],
    revocationReach: reach ?? current.revocationReach,
    issuedAt: timestampOf(Date.now()),
  };
  return draftOf(next, (statement) => chain.judgeNext(nativeSuite, statement));
}

function draftOf(roster: Roster, judge: (statement: string) => Roster): SignedRoster {
  for (const member of roster.members) requirePlace(member);
  const statement = orUsage(() => rosterStatement.write(roster));
  orUsage(() => judge(statement));
  orUsage(() => requireReachable(roster.members));
  return { statement, signatures: [] };
}

function requirePlace({ node, baseUrl }: Pick<Member, 'node' | 'baseUrl'>): void {
  const url = URL.parse(baseUrl);
  const isAddress = url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
  if (!isAddress || baseUrl.endsWith('/')) {
    throw new UsageError(`${node}: ${baseUrl} is no https address without a slash at its end`);
  }
}

function idOf(node: string): NodeId {
  return orUsage(() => nodeId(node));
}

/** What a roster may not say is a mistake of the command line. */
function orUsage<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const isRule = [IdError, RosterError, TransportError, RangeError].some((kind) => error instanceof kind);
    if (!isRule || !(error instanceof Error)) throw error;
    throw new UsageError(error.message);
  }
}
