import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { type CountedRows, countEndOperation } from './count-end.ts';
import type { RecordCounter } from './record-counters.ts';
import { readRecordTexts, tryOpenRecord } from './record-reader.ts';
import { groupTable } from './record-tables.ts';

/** Records, or rows that are dropped, in one write. */
const WRITE_SIZE = 1024;

/**
 * Brings the counts of a node's records up to its last one: those that were put off when it ended are counted from the
 * records. A store that is counted through costs two reads.
 *
 * Crash order: the mark that says how far was counted goes first and is written again with each part that is, so a
 * crash leaves either counts up to that mark, or no mark, and then all begins again.
 */
export async function recount(store: Store, node: NodeId, counted: CountedRows, counter: RecordCounter): Promise<void> {
  const next = await nextOf(store, node);
  const end = await counted.ends.get(store, node).catch(() => undefined);
  const isOurs = end?.version === counted.version && end.next <= next;
  if (!isOurs) await dropAll(store, node, counted);
  for (let first = isOurs ? end.next : 1; first < next; first += WRITE_SIZE) {
    const size = Math.min(WRITE_SIZE, next - first);
    const records = await readRange(store, node, first, size);
    await counter.load(records);
    const rows = [...counter.operations(records, true)].flat();
    await store.write([...rows, countEndOperation(counted, node, first + size)]);
    counter.committed();
  }
}

/** Marks rows that count every record up to the node's last one. */
export async function markAllCounted(store: Store, node: NodeId, counted: CountedRows): Promise<void> {
  await store.write([countEndOperation(counted, node, await nextOf(store, node))]);
}

/** The seq after that of the node's last record. */
async function nextOf(store: Store, node: NodeId): Promise<number> {
  const last = await groupTable.last(store, [node]);
  if (last === undefined) return 1;
  const { first, size } = groupStatement.parse(last[1].statement);
  return first + size;
}

async function readRange(store: Store, node: NodeId, first: number, size: number): Promise<AttestationRecord[]> {
  const records: AttestationRecord[] = [];
  for await (const texts of readRecordTexts(store, node, first, size)) {
    // A record that does not read is for `fsck` to name, and no reason for a node not to start.
    const record = tryOpenRecord(texts);
    if (record !== undefined) records.push(record);
  }
  return records;
}

async function dropAll(store: Store, node: NodeId, { rows, ends }: CountedRows): Promise<void> {
  let dropped: Operation[] = [ends.del(node)];
  const prefix = rows.key('');
  for await (const [key] of store.range({ gte: prefix, lt: `${prefix}\u{10ffff}` })) {
    dropped.push({ type: 'del', key });
    if (dropped.length < WRITE_SIZE) continue;
    await store.write(dropped);
    dropped = [];
  }
  await store.write(dropped);
}
