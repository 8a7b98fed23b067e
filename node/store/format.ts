import { Store, StoreError, type StoreOptions } from './store.ts';
import { numberCodec, Table } from './table.ts';

/**
 * What the rows of a store mean. Goes up with every change of it, and from the first release on each change migrates. 2: a
 * log entry begins with the running hash before its message, and false checkpoints stand under their size. 3: every group of a
 * batch is by the key of its envelope.
 */
export const STORE_FORMAT = 3;

/** (`store`) → version of the store's format. The first row that is written. */
export const formatTable = new Table('format', numberCodec);
/** The one key of the table. */
export const FORMAT_KEY = formatTable.key('store');

/**
 * Opens a node's store, and makes it one of this format where it is new. Throws `StoreError`: `format` where it is of
 * another one.
 */
export async function openNodeStore(directory: string, options: StoreOptions = {}): Promise<Store> {
  await using opening = new AsyncDisposableStack();
  const store = opening.use(await Store.open(directory, options));
  if ((await store.first({})) === undefined) await store.write([formatTable.put(['store'], STORE_FORMAT)]);
  await requireFormat(store);
  opening.move();
  return store;
}

/** Throws `StoreError` `format` where a store has rows of another format. Its message, one line, says what to do. */
export async function requireFormat(store: Store): Promise<void> {
  if ((await store.first({})) === undefined) return;
  const row = await store.get(FORMAT_KEY);
  if (row === undefined) {
    const what = 'the store is of the 0.1 release, and this one does not read it';
    throw new StoreError('format', `${what}: start with an empty home, or use the 0.1 release`);
  }
  const version = versionOf(row);
  if (version === STORE_FORMAT) return;
  const what = `the store is of format ${version ?? 'unknown'}, and this release reads format ${STORE_FORMAT}`;
  throw new StoreError('format', `${what}: start with an empty home, or use the release that wrote it`);
}

function versionOf(row: Uint8Array): number | undefined {
  try {
    return formatTable.decode(row);
  } catch {
    return undefined;
  }
}
