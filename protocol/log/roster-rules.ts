import { decodeBase64url } from '../bytes.ts';
import type { Sha256Hash } from '../hash.ts';
import type { EntityId, NodeId } from '../ids.ts';
import type { Base64url } from '../shapes.ts';
import { PUBLIC_KEY_BYTES } from '../suite/suite.ts';
import { RosterError } from './roster-error.ts';
import { type Member, type Roster, rosterStatement } from './roster.ts';

/** The rosters that were in force so far: what a next one is judged by. */
export interface RosterHistory {
  /** From genesis on; the last is the one that the next follows. */
  readonly rosters: readonly Roster[];
  /** Hash of the last one's text. */
  readonly hash: Sha256Hash;
}

/**
 * Identity keys that one node may have over all rosters. Whatever it certified is judged by any of them, so this bounds
 * the signatures that one statement may cost.
 */
export const MAX_IDENTITY_KEYS = 8;

/** The genesis roster of a text, whoever signed it (TRUST §2). Throws `RosterError` `malformed`, `broken-chain`. */
export function judgeGenesis(text: string): Roster {
  const roster = parseRoster(text);
  requirePlace(roster, 1, null);
  return roster;
}

/**
 * The roster of a text that may follow the last one of `history`, whoever signed or named it (TRUST §2): a federation
 * keeps its ledger topic, an account and an identity key keep their node for ever, and a node keeps its identity key or
 * one account from the last roster that named it. Throws `RosterError` `malformed`, `broken-chain`.
 */
export function judgeNext(history: RosterHistory, text: string): Roster {
  const current = history.rosters.at(-1);
  if (current === undefined) throw new RosterError('empty', 'no genesis roster');
  const roster = parseRoster(text);
  requirePlace(roster, current.version + 1, history.hash);
  if (roster.continues !== undefined) throw malformed('only a genesis roster goes on from another federation');
  const { network, topicId } = current.ledger;
  if (roster.ledger.network !== network || roster.ledger.topicId !== topicId) {
    throw malformed('a federation keeps its ledger topic: its messages have one order');
  }
  requireOwners(history, roster);
  requireKept(history, roster);
  return roster;
}

function parseRoster(text: string): Roster {
  let roster: Roster;
  try {
    roster = rosterStatement.parse(text);
  } catch (error) {
    throw malformed(error instanceof Error ? error.message : 'unreadable roster');
  }
  const { members } = roster;
  requireUnique(
    members.map(({ node }) => node),
    'a member is named twice',
  );
  requireUnique(
    members.map(({ identityKey }) => identityKey),
    'two members with one identity key would vote twice',
  );
  requireUnique(
    members.map(({ peerId }) => peerId),
    'two members with one peer id',
  );
  requireUnique(
    members.flatMap(({ accounts }) => accounts),
    'a ledger account is named twice',
  );
  if (!members.every(({ identityKey }) => isPublicKey(identityKey))) {
    throw malformed('an identity key is not an ML-DSA-65 public key');
  }
  requireQuorum(roster);
  return roster;
}

function requireQuorum({ quorum, members }: Roster): void {
  if (members.length === 1) {
    if (quorum !== 0) throw malformed('the quorum of a federation of one is 0');
  } else if (quorum < 1 || quorum >= members.length) {
    throw malformed('a quorum is at least 1 and must fit besides the origin');
  }
}

function requireUnique(values: readonly string[], otherwise: string): void {
  if (new Set(values).size !== values.length) throw malformed(otherwise);
}

function requirePlace(roster: Roster, version: number, previous: Sha256Hash | null): void {
  if (roster.version === version && roster.previous === previous) return;
  throw new RosterError('broken-chain', `roster ${version} does not follow the one before`);
}

/** No account and no identity key that an earlier roster named passes to another node. */
function requireOwners({ rosters }: RosterHistory, { members }: Roster): void {
  const accounts = new Map<EntityId, NodeId>();
  const identityKeys = new Map<Base64url, NodeId>();
  for (const member of members) {
    identityKeys.set(member.identityKey, member.node);
    for (const account of member.accounts) accounts.set(account, member.node);
  }
  for (const earlier of rosters.flatMap((roster) => roster.members)) {
    if ((identityKeys.get(earlier.identityKey) ?? earlier.node) !== earlier.node) {
      throw malformed(`the identity key of ${earlier.node} passes to another node`);
    }
    for (const account of earlier.accounts) {
      if ((accounts.get(account) ?? earlier.node) === earlier.node) continue;
      throw malformed(`the ledger account ${account} of ${earlier.node} passes to another node`);
    }
  }
}

/** Each node is still whom the last roster that named it meant. */
function requireKept({ rosters }: RosterHistory, { members }: Roster): void {
  const known = new Map<NodeId, Member>();
  const identityKeys = new Map(members.map(({ node, identityKey }) => [node, new Set([identityKey])]));
  for (const earlier of rosters.flatMap((roster) => roster.members)) {
    known.set(earlier.node, earlier);
    identityKeys.get(earlier.node)?.add(earlier.identityKey);
  }
  for (const { node, identityKey, accounts } of members) {
    const before = known.get(node);
    const isKept =
      before === undefined ||
      before.identityKey === identityKey ||
      before.accounts.some((account) => accounts.includes(account));
    if (!isKept) throw malformed(`${node} keeps neither its identity key nor an account`);
    if ((identityKeys.get(node)?.size ?? 0) > MAX_IDENTITY_KEYS) {
      throw malformed(`${node} has had over ${MAX_IDENTITY_KEYS} identity keys`);
    }
  }
}

function isPublicKey(text: Base64url): boolean {
  try {
    return decodeBase64url(text).length === PUBLIC_KEY_BYTES;
  } catch {
    return false;
  }
}

function malformed(message: string): RosterError {
  return new RosterError('malformed', message);
}
