import type { Sha256Hash } from '../hash.ts';
import type { EntityId, NodeId } from '../ids.ts';
import { parseLedgerMessage } from '../log/message.ts';
import type { Roster } from '../log/roster.ts';
import type { PlacedDecision } from './placed-decision.ts';
import type { RosterPlace } from './roster-line.ts';

/** A decision that does not bring its roster into force, or rosters that are not those which are pinned. */
export class RosterLineError extends Error {
  override readonly name = 'RosterLineError';
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

/**
 * The decision brings the roster of that hash into force after `last`, and can have been made (protocol §2). Throws
 * `RosterLineError`, and `StatementError` where it is of no message.
 */
export function requireDecided(
  federation: Sha256Hash,
  last: RosterPlace,
  hash: Sha256Hash,
  decision: PlacedDecision,
): void {
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
  if (!isSameLedger(value, last.roster.ledger)) {
    throw new RosterLineError('the decision of a roster is of another ledger');
  }
  if (memberOfAccount(last.roster, value.payer) === undefined) {
    throw new RosterLineError('no member of the roster before paid for the decision of a roster');
  }
  const before = last.decision;
  if (before !== null && (before.value.index >= value.index || !isInOrder(before, decision))) {
    throw new RosterLineError('the decisions of rosters are not in the order of the ledger');
  }
}
