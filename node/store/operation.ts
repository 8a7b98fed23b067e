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

/** What one row is after a write. Keys are text; a table gives each its prefix. */
export type RowChange =
  | { readonly type: 'put'; readonly key: string; readonly value: Uint8Array }
  | { readonly type: 'del'; readonly key: string };

/**
 * Makes a row again of what it is when the write is applied, so that no other write comes between. A missing row stays
 * so.
 */
export interface RowRewrite {
  readonly type: 'rewrite';
  readonly key: string;
  /** Must leave what it is given as it is, and not throw. */
  readonly rewrite: (value: Uint8Array) => Uint8Array;
}

/** One change of an atomic write. */
export type Operation = RowChange | RowRewrite;

/** What operations come to, in their order, on the rows that `read` has. */
export function changesOf(
  operations: readonly Operation[],
  read: (key: string) => Uint8Array | undefined,
): readonly RowChange[] {
  if (operations.every(isChange)) return operations;
  const rewritten = new Set(operations.flatMap((operation) => (isChange(operation) ? [] : [operation.key])));
  const values = new Map<string, Uint8Array | undefined>();
  return operations.map((operation) => {
    const { key } = operation;
    const change = isChange(operation) ? operation : changeOf(operation, values.has(key) ? values.get(key) : read(key));
    if (rewritten.has(key)) values.set(key, change.type === 'put' ? change.value : undefined);
    return change;
  });
}

function changeOf({ key, rewrite }: RowRewrite, value: Uint8Array | undefined): RowChange {
  return value === undefined ? { type: 'del', key } : { type: 'put', key, value: rewrite(value) };
}

function isChange(operation: Operation): operation is RowChange {
  return operation.type !== 'rewrite';
}
