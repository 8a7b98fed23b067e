import { dayOf } from '../../protocol/audit/day.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import { splitTexts } from '../records/record-lines.ts';
import { tryOpenRecord } from '../records/record-reader.ts';
import { bodyTable, groupTable } from '../records/record-tables.ts';
import type { Store } from '../store/store.ts';
import { type UtcDay, usageTable } from './usage-table.ts';
import { addToTally, type TalliedDay } from './usage-tally.ts';

/**
 * Counts all of a node's records where the store has no count of any: one written before there were counts. One atomic
 * write, so a crash before it leaves the work to the next start. Resolves to the rows written.
 */
export async function rebuildUsage(store: Store, node: NodeId): Promise<number> {
  if (await hasUsage(store)) return 0;
  const tally = new Map<string, TalliedDay>();
  for await (const [, body] of bodyTable.under(store, [node])) {
    for (const texts of splitTexts(body)) {
      // A record that does not read is for `fsck` to name, and no reason for a node not to start.
      const record = tryOpenRecord(texts);
      if (record !== undefined) addToTally(tally, record);
    }
  }
  await store.write([...tally.values()].map(({ account, day, records }) => usageTable.put([account, day], records)));
  return tally.size;
}

export async function hasUsage(store: Store): Promise<boolean> {
  const prefix = usageTable.key('');
  const row = await store.first({ gte: prefix });
  return row?.[0].startsWith(prefix) === true;
}

/** Day of the last group that the node signed. */
export async function lastRecordedDay(store: Store, node: NodeId): Promise<UtcDay | undefined> {
  const last = await groupTable.last(store, [node]);
  return last === undefined ? undefined : dayOf(groupStatement.parse(last[1].statement).signedAt);
}
