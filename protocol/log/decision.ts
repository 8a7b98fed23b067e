import Type, { type Static } from 'typebox';
import { Closed, ConsensusTimestampShape, CountShape, EntityIdShape, Sha384Shape } from '../shapes.ts';
import { canonicalText } from '../statement/statement.ts';

/**
 * What one ledger message decided: a leaf of the federation's log. It repeats where the message stands on the ledger,
 * so that anyone with a mirror can look it up (protocol §2).
 */
const DecisionShape = Closed({
  v: Type.Literal(1),
  type: Type.Literal('decision'),
  /** Place in the log, from 0. */
  index: CountShape,
  network: Type.String({ minLength: 1, maxLength: 64 }),
  topicId: EntityIdShape,
  /** Of the message on its topic, from 1, in decimal. */
  sequence: Type.String({ pattern: '^[1-9]\\d{0,18}$' }),
  consensusTimestamp: ConsensusTimestampShape,
  /** Ledger account that paid for the message; the running hash covers it. */
  payer: EntityIdShape,
  /** The deciding message, to the byte. */
  message: Type.String({ minLength: 1, maxLength: 1024 }),
  /** Of the topic after the message. */
  runningHash: Sha384Shape,
});
export type Decision = Static<typeof DecisionShape>;

/**
 * Reader and writer of a decision's canonical text, which is the entry of the log. Its leaf is the `leafHash` of it.
 */
export const decisionText = canonicalText('decision', DecisionShape);
