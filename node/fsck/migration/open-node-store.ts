import { Store, type StoreOptions } from '../../store/store.ts';
import { beginFormat, migrateStore, type MigrationOptions } from './migrate-store.ts';

export type NodeStoreOptions = StoreOptions & Partial<MigrationOptions>;

/**
 * Opens a node's store for use: a new one is made of the format in force, and one of the format before is migrated first.
 * Throws `StoreError`: `format` where it is of another one.
 */
export async function openNodeStore(directory: string, options: NodeStoreOptions = {}): Promise<Store> {
  const { node = null, log = null, ...rest } = options;
  await using opening = new AsyncDisposableStack();
  const store = opening.use(await Store.open(directory, options));
  await beginFormat(store);
  await migrateStore(store, { ...rest, node, log });
  opening.move();
  return store;
}
