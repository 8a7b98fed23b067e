import type { EntityId, NodeId } from '../../protocol/ids.ts';
import { type DecisionState, isRevoked, memberOfAccount } from '../../protocol/log/decision-state.ts';
import type { BatchMessage } from '../../protocol/log/message.ts';
import type { NameStanding } from '../anchoring/naming.ts';
import type { FederationLog } from './federation-log.ts';

/** What the log says of a batch message: whether it is the one that was decided at its number. */
export async function standingOf(
  log: Pick<FederationLog, 'decisionOf'>,
  node: NodeId,
  batch: number,
  message: string,
): Promise<NameStanding> {
  const decision = await log.decisionOf(node, batch);
  if (decision === undefined) return 'open';
  return decision.message === message ? 'decided' : 'other';
}

export interface OwnNaming {
  readonly self: NodeId;
  /** The account that pays. */
  readonly account: EntityId;
  /** The last own batch that another member holds. */
  readonly heldUpTo: number;
}

/**
 * Whether a node may name its own batch now (TRUST §2): the account that pays is its own in the roster in force, no
 * revocation of the envelope's key is, and another member holds the body; in a federation of one at once.
 */
export function mayNameOwn(state: DecisionState, { self, account, heldUpTo }: OwnNaming, message: BatchMessage): boolean {
  if (memberOfAccount(state, account) !== self || isRevoked(state, self, message.keyId)) return false;
  const isAlone = Object.keys(state.members).length === 1;
  return isAlone || message.batch <= heldUpTo;
}
