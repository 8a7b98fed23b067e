import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { Operation } from '../store/operation.ts';

/**
 * Counts over a node's own records whose rows land in the records' own write, so that they hold exactly when the records
 * do. Called for one write after another: `load`, `operations`, then `committed` once the rows are on the disk; without
 * it the next `operations` start from where the last durable ones left off.
 */
export interface RecordCounter {
  /** Reads the rows that these records move, where memory has not got them. */
  load(records: readonly AttestationRecord[]): Promise<void>;
  /** Rows, in parts: counting thousands of records takes long, and whoever takes the parts may rest between two. */
  operations(records: readonly AttestationRecord[]): Iterable<readonly Operation[]>;
  committed(): void;
  /** Lets go of what memory holds: the rows may have been moved by another writer. */
  forget(): void;
}
