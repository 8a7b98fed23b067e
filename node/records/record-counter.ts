import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { Operation } from '../store/operation.ts';

/**
 * Counts over a node's own records. Rows land in the records' own write, or in a later one together with the mark that says
 * up to which record they count: a counter without such a mark writes its rows at once. Called for one write after another:
 * `load`, `operations`, then `committed` once the rows are on the disk; without it the next `operations` start from where
 * the last durable ones left off.
 */
export interface RecordCounter {
  /** Reads the rows that these records move, where memory has not got them. */
  load(records: readonly AttestationRecord[]): Promise<void>;
  /**
   * Rows, in parts: counting thousands of records takes long, and whoever takes the parts may rest between two. `writesAll`:
   * rows that were put off are among them; also where there are no records.
   */
  operations(records: readonly AttestationRecord[], writesAll?: boolean): Iterable<readonly Operation[]>;
  committed(): void;
  /** Lets go of what memory holds: the rows may have been moved by another writer. Not while any row is put off. */
  forget(): void;
}
