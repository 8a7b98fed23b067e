import type { RecordId } from '../../protocol/ids.ts';
import type { Store } from '../store/store.ts';
import { unpaidRecordTable } from './payment-tables.ts';

/** Whether a record was made for a payment that is not settled: then it is shown to nobody. */
export async function isUnpaid(store: Store, id: RecordId): Promise<boolean> {
  return (await store.get(unpaidRecordTable.key(id))) !== undefined;
}

/** Those of some records that may be shown, in their order. */
export async function shownOnly<Shown extends { readonly id: RecordId }>(
  store: Store,
  records: readonly Shown[],
): Promise<Shown[]> {
  const marks = await store.getMany(records.map(({ id }) => unpaidRecordTable.key(id)));
  return records.filter((_, i) => marks[i] === undefined);
}
