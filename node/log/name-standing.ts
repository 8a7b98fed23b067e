import type { EntityId, NodeId } from '../../protocol/ids.ts';
import { type DecisionState, isRevoked, memberOfAccount } from '../../protocol/log/decision-state.ts';
import {
  type BatchMessage,
  parseLedgerMessage,
  type RevocationMessage,
  type RosterMessage,
} from '../../protocol/log/message.ts';
import type { NameStanding } from '../anchoring/anchor-submission.ts';
import type { FederationLog } from './federation-log.ts';

/** What the log says of a message that a member sends, or would. Throws where the text is no ledger message. */
export async function standingOf(
  log: Pick<FederationLog, 'decisionOf' | 'state'>,
  self: NodeId,
  text: string,
): Promise<NameStanding> {
  const named = parseLedgerMessage(text);
  if (named.type === 'roster') return rosterStanding(log.state, self, named);
  if (named.type === 'revocation') return revocationStanding(log.state, self, named);
  const decision = await log.decisionOf(named.node, named.batch);
  if (decision === undefined) return 'open';
  return decision.message === text ? 'decided' : 'other';
}

function rosterStanding({ rosters, open }: DecisionState, self: NodeId, { statement }: RosterMessage): NameStanding {
  if (rosters.some(({ hash }) => hash === statement)) return 'decided';
  return open[self]?.roster === statement ? 'counts' : 'open';
}

function revocationStanding(
  { revoked, open }: DecisionState,
  self: NodeId,
  { node, keyId, statement }: RevocationMessage,
): NameStanding {
  const isNamed = (name: { readonly statement: string }): boolean => name.statement === statement;
  if (revoked[node]?.[keyId]?.some(isNamed) === true) return 'decided';
  return open[self]?.revocations.some(isNamed) === true ? 'counts' : 'open';
}

export interface OwnNaming {
  readonly self: NodeId;
  /** The account that pays. */
  readonly account: EntityId;
  /** The last own batch that another member holds. */
  readonly heldUpTo: number;
}

/**
 * Whether a node may name its own batch now (protocol §2): the account that pays is its own in the roster in force, no
 * revocation of the envelope's key is, and another member holds the body; in a federation of one at once.
 */
export function mayNameOwn(
  state: DecisionState,
  { self, account, heldUpTo }: OwnNaming,
  message: BatchMessage,
): boolean {
  if (memberOfAccount(state, account) !== self || isRevoked(state, self, message.keyId)) return false;
  const isAlone = Object.keys(state.members).length === 1;
  return isAlone || message.batch <= heldUpTo;
}
