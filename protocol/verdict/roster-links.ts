import { decodeBase64url } from '../bytes.ts';
import type { Sha256Hash } from '../hash.ts';
import type { EntityId, NodeId } from '../ids.ts';
import { parseLedgerMessage } from '../log/message.ts';
import { type Roster, rosterStatement } from '../log/roster.ts';
import { PUBLIC_KEY_BYTES } from '../suite/suite.ts';
import type { PlacedDecision } from './placed-decision.ts';
import type { RosterPlace } from './roster-line.ts';

/** Rosters that do not follow one from another, or a decision that brings none of them into force. */
export class RosterLineError extends Error {
  override readonly name = 'RosterLineError';
}

/** The genesis roster of a text. Throws `RosterLineError`, and `StatementError` on a text that is no roster. */
export function genesisOf(text: string, hash: Sha256Hash, isKnown: boolean): RosterPlace {
  const roster = rosterStatement.parse(text);
  if (roster.version !== 1 || roster.previous !== null) {
    throw new RosterLineError('a genesis roster has version 1 and none before it');
  }
  requireWhole(roster);
  return { roster, text, hash, decision: null, isKnown };
}

/** Of a roster that follows: its text, the hash of that, and the decision that brings it into force. */
export type Next = Omit<RosterPlace, 'roster'>;

/**
 * The roster of a text that follows `last` by a decision that can have been made (TRUST §2). Whether its members are
 * the operators that they were is for `Operators` to say. Throws `RosterLineError` and `StatementError`.
 */
export function followerOf(federation: Sha256Hash, last: RosterPlace, next: Next): RosterPlace {
  const roster = rosterStatement.parse(next.text);
  const { version } = roster;
  if (version !== last.roster.version + 1 || roster.previous !== last.hash) {
    throw new RosterLineError(`roster ${version} does not follow the one before`);
  }
  if (!isSameLedger(roster.ledger, last.roster.ledger)) throw new RosterLineError('a federation keeps its ledger topic');
  if (roster.continues !== undefined) throw new RosterLineError('only a genesis roster continues another federation');
  requireWhole(roster);
  if (next.decision === null) throw new RosterLineError(`roster ${version} stands without its decision`);
  requireDecided(federation, last, next, next.decision);
  return { ...next, roster };
}

export function isSameLedger(a: Roster['ledger'], b: Roster['ledger']): boolean {
  return a.network === b.network && a.topicId === b.topicId;
}

/** The member of a roster whose ledger account this is. */
export function memberOfAccount({ members }: Roster, account: EntityId): NodeId | undefined {
  return members.find(({ accounts }) => accounts.includes(account))?.node;
}

/** Whether the ledger can have given the later of two places in the log after the earlier one. */
export function isInOrder(earlier: PlacedDecision, later: PlacedDecision): boolean {
  const [a, b] = [earlier.value, later.value];
  if (BigInt(a.sequence) >= BigInt(b.sequence)) return false;
  return nanoseconds(a.consensusTimestamp) < nanoseconds(b.consensusTimestamp);
}

function nanoseconds(consensus: string): bigint {
  return BigInt(consensus.replace('.', ''));
}

/** What holds of every roster by itself. */
function requireWhole({ members, quorum }: Roster): void {
  if (quorum > members.length - 1 || (quorum === 0 && members.length > 1)) {
    throw new RosterLineError('a quorum is at least one member and fits besides the origin');
  }
  requireUnique(members.map(({ node }) => node));
  requireUnique(members.map(({ identityKey }) => identityKey));
  requireUnique(members.map(({ peerId }) => peerId));
  requireUnique(members.flatMap(({ accounts }) => accounts));
  if (!members.every(({ identityKey }) => isPublicKey(identityKey))) {
    throw new RosterLineError('an identity key is not an ML-DSA-65 public key');
  }
}

function requireUnique(names: readonly string[]): void {
  if (new Set(names).size !== names.length) throw new RosterLineError('two members of a roster share what is one’s own');
}

function isPublicKey(text: string): boolean {
  if (text.length > 2 * PUBLIC_KEY_BYTES) return false;
  try {
    return decodeBase64url(text).length === PUBLIC_KEY_BYTES;
  } catch {
    return false;
  }
}

function requireDecided(federation: Sha256Hash, last: RosterPlace, { hash }: Next, decision: PlacedDecision): void {
  const { value } = decision;
  const message = parseLedgerMessage(value.message);
  if (
    message.type !== 'roster' ||
    message.federation !== federation ||
    message.previous !== last.hash ||
    message.statement !== hash
  ) {
    throw new RosterLineError('the decision of a roster names another one');
  }
  if (!isSameLedger(value, last.roster.ledger)) throw new RosterLineError('the decision of a roster is of another ledger');
  if (memberOfAccount(last.roster, value.payer) === undefined) {
    throw new RosterLineError('no member of the roster before paid for the decision of a roster');
  }
  const before = last.decision;
  if (before !== null && (before.value.index >= value.index || !isInOrder(before, decision))) {
    throw new RosterLineError('the decisions of rosters are not in the order of the ledger');
  }
}
