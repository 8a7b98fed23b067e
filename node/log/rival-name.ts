import Type, { type Static } from 'typebox';
import type { Rival, TopicMessage } from '../../protocol/log/decide.ts';
import type { DecisionState } from '../../protocol/log/decision-state.ts';
import { writeLedgerMessage } from '../../protocol/log/message.ts';
import { Closed, ConsensusTimestampShape, CountShape, EntityIdShape } from '../../protocol/shapes.ts';
import { jsonTable } from '../store/table.ts';

/** A message of the topic that names a batch: a decision is one too. */
const LedgerNameShape = Closed({
  consensusTimestamp: ConsensusTimestampShape,
  /** Decisions in the log before it. */
  index: CountShape,
  message: Type.String({ minLength: 1, maxLength: 1024 }),
  /** Ledger account that paid for it. */
  payer: EntityIdShape,
  /** In decimal, as decisions say it. */
  sequence: Type.String({ pattern: '^[1-9]\\d{0,18}$' }),
});
export type LedgerName = Readonly<Static<typeof LedgerNameShape>>;

/**
 * (node, batch) → the first message by which the node's own account names another envelope for a number that was
 * decided. One is kept a number (protocol §2); each costs its node a ledger fee.
 */
export const rivalNameTable = jsonTable('log-rival', LedgerNameShape);

/** A rival that the log has read, and the message that names it. */
export interface LoggedRival extends Rival {
  readonly name: LedgerName;
}

/** A rival with the message that names it. `state`: as it was before the message. */
export function loggedRival(rival: Rival, { payer }: TopicMessage, state: DecisionState): LoggedRival {
  const { node, batch, envelope, keyId, sequence, consensusTimestamp } = rival;
  const { federation, size: index } = state;
  const message = writeLedgerMessage({ v: 2, type: 'batch', federation, node, batch, envelope, keyId });
  return { ...rival, name: { consensusTimestamp, index, message, payer, sequence: String(sequence) } };
}
