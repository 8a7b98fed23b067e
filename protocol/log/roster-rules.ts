import { decodeBase64url } from '../bytes.ts';
import { hashParts, type Sha256Hash } from '../hash.ts';
import { type EntityId, isNodeId, type NodeId } from '../ids.ts';
import type { Base64url } from '../shapes.ts';
import { PUBLIC_KEY_BYTES, type Suite } from '../suite/suite.ts';
import { MAX_VOUCHED } from './checkpoint.ts';
import { type DecisionState, knownNode, MAX_IDENTITY_KEYS, rosterInForce } from './decision-state.ts';
import { RosterError } from './roster-error.ts';
import { type Member, type Roster, rosterStatement } from './roster.ts';

/** Longest roster that can come into force, in UTF-16 code units: 16,384 a member at 256 members. */
export const MAX_ROSTER_CHARACTERS = 1 << 22;

type Hashing = Pick<Suite, 'sha256Hex'>;

/** The genesis roster of a text, whoever signed it (protocol §2). Throws `RosterError`. */
export function judgeGenesis(text: string): Roster {
  const roster = parseRoster(text);
  if (roster.version !== 1 || roster.previous !== null) {
    throw new RosterError('broken-chain', 'a genesis roster has version 1 and none before it');
  }
  requireWhole(roster);
  return roster;
}

/** What is known of a node that any roster named. */
export interface KnownOperator {
  /** In the last roster that names it. */
  readonly accounts: readonly EntityId[];
  /** Hashes of all that rosters have named for it, that of the last roster last. */
  readonly identityKeys: readonly Sha256Hash[];
}

/** What the rules of a next roster read of those before it. */
export interface RosterFacts {
  /** Of the last roster, and the hash of its text. */
  readonly version: number;
  readonly hash: Sha256Hash;
  readonly ledger: Roster['ledger'];
  /** Nodes that were ever named. */
  readonly nodes: number;
  known(node: NodeId): KnownOperator | undefined;
  /** Whose an account or an identity key, by its hash, is that was ever named. */
  ownerOfAccount(account: EntityId): NodeId | undefined;
  ownerOfIdentityKey(keyId: Sha256Hash): NodeId | undefined;
}

/**
 * The roster of a text that may follow the one in force, whoever named it: one that breaks a rule never comes into
 * force (protocol §2). What it may do depends on the rosters before it alone, so a member knows before it names one.
 * Throws `RosterError`.
 */
export function judgeNext(suite: Hashing, state: DecisionState, text: string): Roster {
  return judgeAfter(suite, factsOf(state), text);
}

/** The same, after rosters of which only these facts are known. Throws `RosterError`. */
export function judgeAfter(suite: Hashing, facts: RosterFacts, text: string): Roster {
  const roster = parseRoster(text);
  if (roster.version !== facts.version + 1 || roster.previous !== facts.hash) {
    throw new RosterError('broken-chain', `roster ${roster.version} does not follow the one in force`);
  }
  const { network, topicId } = facts.ledger;
  if (roster.ledger.network !== network || roster.ledger.topicId !== topicId) {
    throw new RosterError('ledger-changed', 'a federation keeps its ledger topic: its decisions have one order');
  }
  if (roster.continues !== undefined) {
    throw new RosterError('continues', 'only a genesis roster goes on from another federation');
  }
  requireWhole(roster);
  for (const member of roster.members) requireSameOperator(suite, facts, member);
  requireCapacity(facts, roster);
  return roster;
}

/** Hash of a member's raw identity key. */
export function identityKeyId(suite: Hashing, { identityKey }: Pick<Member, 'identityKey'>): Sha256Hash {
  return hashParts(suite, decodeBase64url(identityKey));
}

function parseRoster(text: string): Roster {
  if (text.length > MAX_ROSTER_CHARACTERS) {
    throw new RosterError('too-long', `a roster has at most ${MAX_ROSTER_CHARACTERS} characters`);
  }
  try {
    return rosterStatement.parse(text);
  } catch (error) {
    throw new RosterError('malformed', error instanceof Error ? error.message : 'unreadable roster');
  }
}

/** What holds of every roster by itself. */
function requireWhole({ members, quorum }: Roster): void {
  const alone = members.length === 1;
  if (quorum > members.length - 1 || (quorum === 0 && !alone)) {
    throw new RosterError('quorum', 'a quorum is at least one member and fits besides the origin');
  }
  if (!members.every(({ identityKey }) => isPublicKey(identityKey))) {
    throw new RosterError('identity-key', 'an identity key is not an ML-DSA-65 public key');
  }
  requireUnique(
    'node',
    members.map(({ node }) => node),
  );
  requireUnique(
    'identity key',
    members.map(({ identityKey }) => identityKey),
  );
  requireUnique(
    'peer id',
    members.map(({ peerId }) => peerId),
  );
  requireUnique(
    'account',
    members.flatMap(({ accounts }) => accounts),
  );
}

function requireUnique(what: string, values: readonly string[]): void {
  if (new Set(values).size === values.length) return;
  throw new RosterError('named-twice', `a roster names one ${what} twice`);
}

function isPublicKey(text: Base64url): boolean {
  if (text.length > 2 * PUBLIC_KEY_BYTES) return false;
  try {
    return decodeBase64url(text).length === PUBLIC_KEY_BYTES;
  } catch {
    return false;
  }
}

function factsOf(state: DecisionState): RosterFacts {
  const { ledger, past, members, accounts } = state;
  const nodes = [...Object.entries(past), ...Object.entries(members)];
  const owners = new Map<Sha256Hash, NodeId>();
  for (const [node, { identityKeys }] of nodes) {
    if (isNodeId(node)) for (const key of identityKeys) owners.set(key, node);
  }
  return {
    version: state.rosters.length,
    hash: rosterInForce(state),
    ledger,
    nodes: nodes.length,
    known: (node) => knownNode(state, node),
    ownerOfAccount: (account) => accounts[account],
    ownerOfIdentityKey: (keyId) => owners.get(keyId),
  };
}

/**
 * An account and an identity key stay with their node for ever. A node that any roster named is the same operator's
 * still: it keeps its identity key or one account of the last roster that names it, also where rosters without it lie
 * between.
 */
function requireSameOperator(suite: Hashing, facts: RosterFacts, member: Member): void {
  const { node, accounts } = member;
  for (const account of accounts) {
    const owner = facts.ownerOfAccount(account);
    if (owner === undefined || owner === node) continue;
    throw new RosterError('account-passed', `the account ${account} is that of ${owner}`);
  }
  const identityKey = identityKeyId(suite, member);
  const speaker = facts.ownerOfIdentityKey(identityKey) ?? node;
  if (speaker !== node) {
    throw new RosterError('identity-key-passed', `the identity key of ${node} is that of ${speaker}`);
  }
  const before = facts.known(node);
  if (before === undefined) return;
  const hasAccount = accounts.some((account) => before.accounts.includes(account));
  if (!hasAccount && identityKey !== before.identityKeys.at(-1)) {
    throw new RosterError('other-operator', `${node} keeps neither its identity key nor an account`);
  }
  if (before.identityKeys.includes(identityKey) || before.identityKeys.length < MAX_IDENTITY_KEYS) return;
  throw new RosterError('too-many-identity-keys', `${node} has had ${MAX_IDENTITY_KEYS} identity keys already`);
}

/** A checkpoint vouches for every node that was ever named, so there is an end to them. */
function requireCapacity(facts: RosterFacts, { members }: Roster): void {
  const added = members.filter(({ node }) => facts.known(node) === undefined).length;
  if (facts.nodes + added <= MAX_VOUCHED) return;
  throw new RosterError('too-many-nodes', `rosters name at most ${MAX_VOUCHED} nodes in all`);
}
