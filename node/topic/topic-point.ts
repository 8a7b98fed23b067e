import type { Static } from 'typebox';
import type { EntityId } from '../../protocol/ids.ts';
import { Closed, CountShape, Sha384Shape } from '../../protocol/shapes.ts';
import type { ConsensusTimestamp } from '../../protocol/time.ts';

/** A place on the topic and its running hash after it, which covers every message up to there. */
export const TopicPointShape = Closed({
  /** Sequence number of the message; 0 before the first. */
  sequence: CountShape,
  runningHash: Sha384Shape,
});
export type TopicPoint = Readonly<Static<typeof TopicPointShape>>;

/** A message of the topic whose place is final (TRUST §3): no honest member has another one there. */
export interface FinalMessage extends TopicPoint {
  readonly consensusTimestamp: ConsensusTimestamp;
  /** Ledger account that paid for it; the running hash covers it. */
  readonly payer: EntityId;
  readonly message: Uint8Array;
}
