import type { RowChange } from './operation.ts';

/** One atomic write of a store, at the moment when it goes to the disk. */
export interface Commit {
  /** Folder of the store. */
  readonly directory: string;
  readonly operations: readonly RowChange[];
  /** Puts it on the disk. Rejects where the database refuses it. */
  sync(): Promise<void>;
}

/** What stands between a store and its disk. A commit that it rejects counts as failed, whatever is on the disk. */
export type CommitGate = (commit: Commit) => Promise<void>;

export const openGate: CommitGate = (commit) => commit.sync();
