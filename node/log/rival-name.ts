import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { NodeId } from '../../protocol/ids.ts';
import type { TopicMessage } from '../../protocol/log/decide.ts';
import { type BatchMessage, writeLedgerMessage } from '../../protocol/log/message.ts';
import { Closed, ConsensusTimestampShape, CountShape, EntityIdShape } from '../../protocol/shapes.ts';
import { jsonCodec, Table } from '../store/table.ts';

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

const compiled = Compile(LedgerNameShape);

/**
 * (node, batch) → the first message by which the node's own account names another envelope for a number that was decided.
 * One is kept a number (TRUST §2); each costs its node a ledger fee.
 */
export const rivalNameTable = new Table(
  'log-rival',
  jsonCodec((value: unknown): value is LedgerName => compiled.Check(value)),
);

/** A rival that the log has read, and the message that names it. */
export interface LoggedRival {
  readonly node: NodeId;
  readonly batch: number;
  readonly name: LedgerName;
}

/** The row of a message that names a rival. `index`: decisions in the log before it. */
export function rivalName(
  { sequence, consensusTimestamp, payer }: TopicMessage,
  named: BatchMessage,
  index: number,
): LedgerName {
  return { consensusTimestamp, index, message: writeLedgerMessage(named), payer, sequence: String(sequence) };
}
