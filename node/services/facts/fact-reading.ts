import type { ConsensusTimestamp } from '../../../protocol/time.ts';

/** What a mirror says of a fact, and up to which time of the ledger it is so. */
export interface FactReading<Value> {
  readonly value: Value;
  readonly asOf: ConsensusTimestamp;
}
