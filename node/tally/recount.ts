import type { NodeId } from '../../protocol/ids.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { RecordCounter } from '../records/record-counter.ts';
import { groupTable } from '../records/record-tables.ts';
import { readRecordTexts, tryOpenRecord } from '../records/record-reader.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { TALLY_VERSION, tallyEndTable, tallyTable } from './tally-table.ts';

/** Records, or rows that are dropped, in one write. */
const WRITE_SIZE = 1024;

/**
 * Brings the counts of a node's records up to its last one. A store that is counted through costs two reads.
 *
 * Crash order: the row that says how far was counted goes first and is written again with each part that is, so a crash
 * leaves either counts up to that row, or no such row, and then all begins again.
 */
export async function recount(store: Store, node: NodeId, tally: RecordCounter): Promise<void> {
  const last = await groupTable.last(store, [node]);
  const next = last === undefined ? 1 : endOf(last[1].statement);
  const end = await tallyEndTable.get(store, node).catch(() => undefined);
  const isOurs = end?.version === TALLY_VERSION && end.next <= next;
  if (!isOurs) await dropAll(store, node);
  for (let first = isOurs ? end.next : 1; first < next; first += WRITE_SIZE) {
    await countRange(store, node, first, Math.min(WRITE_SIZE, next - first), tally);
  }
}

async function countRange(
  store: Store,
  node: NodeId,
  first: number,
  size: number,
  tally: RecordCounter,
): Promise<void> {
  const records: AttestationRecord[] = [];
  for await (const texts of readRecordTexts(store, node, first, size)) {
    // A record that does not read is for `fsck` to name, and no reason for a node not to start.
    const record = tryOpenRecord(texts);
    if (record !== undefined) records.push(record);
  }
  await tally.load(records);
  const end = tallyEndTable.put([node], { version: TALLY_VERSION, next: first + size });
  await store.write([...[...tally.operations(records)].flat(), end]);
  tally.committed();
}

async function dropAll(store: Store, node: NodeId): Promise<void> {
  let dropped: Operation[] = [tallyEndTable.del(node)];
  const prefix = tallyTable.key('');
  for await (const [key] of store.range({ gte: prefix, lt: `${prefix}\u{10ffff}` })) {
    dropped.push({ type: 'del', key });
    if (dropped.length < WRITE_SIZE) continue;
    await store.write(dropped);
    dropped = [];
  }
  await store.write(dropped);
}

function endOf(statement: string): number {
  const { first, size } = groupStatement.parse(statement);
  return first + size;
}
