import type { NodeId } from '../../../protocol/ids.ts';
import type { MigratedFormat } from '../../store/format.ts';
import type { Rows } from '../../store/store.ts';

/** What a step works with. */
export interface MigrationContext {
  /** Its writes are atomic and synced. */
  readonly store: Rows;
  /** Whose store it is; null where neither the caller nor its payload keys tell. */
  readonly node: NodeId | null;
  /** Called after each write of a step, with the number of rows that it moved or added. */
  readonly moved: (rows: number) => void;
}

/**
 * Turns earlier rows into those of the format in force, in atomic writes of bounded size, each of which puts the new
 * rows and deletes those that they replace, if they replace any. A step that was stopped anywhere is run again from its
 * beginning: what it moved before it finds moved. A row that does not read stays as it is, for `fsck` to find.
 */
export interface MigrationStep {
  /** As the log names it: what is moved. */
  readonly name: string;
  /** The format whose stores it is for, and every earlier one's. */
  readonly from: MigratedFormat;
  readonly run: (context: MigrationContext) => Promise<void>;
}
