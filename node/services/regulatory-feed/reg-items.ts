import { type RecordId, recordId } from '../../../protocol/ids.ts';
import type { Store } from '../../store/store.ts';
import { itemTable, type Revision, revisionTable } from './regwatch-tables.ts';

/** An item as it stands. */
export interface CurrentItem {
  readonly record: RecordId;
  readonly revision: Revision;
}

/**
 * The item of an id; undefined where this node has none, or has lost what it says: a record that was taken back from
 * peers comes without its payload.
 */
export async function readCurrentItem(store: Store, itemId: string): Promise<CurrentItem | undefined> {
  const last = await itemTable.last(store, [itemId]);
  if (last === undefined) return undefined;
  const record = recordId(last[1]);
  const revision = await revisionTable.get(store, record);
  return revision === undefined ? undefined : { record, revision };
}
