import { type NodeId, nodeOfRecord, type RecordId } from '../../protocol/ids.ts';
import type { Group } from '../../protocol/statement/group.ts';
import {
  type AttestationRecord,
  openRecord,
  type WholeTexts,
  type WrittenRecord,
} from '../../protocol/chain/record.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { CoveringRows } from '../store/covering-rows.ts';
import type { Reads } from '../store/store.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { openedBodyTable } from './opened-bodies.ts';
import { splitTexts } from './record-lines.ts';
import { storedStatements } from './stored-statements.ts';
import { bodyTable, groupTable, recordIndex } from './record-tables.ts';

export class RecordDamagedError extends Error {
  override readonly name = 'RecordDamagedError';
}

/** A group, and the statement that signs it. */
export interface GroupReceipt {
  readonly group: Group;
  readonly signed: SignedStatement;
}

const bodies = new CoveringRows<readonly [NodeId], readonly WholeTexts[], WholeTexts>({
  table: openedBodyTable,
  open: ({ first, value }, seq) => value[seq - first],
});
const groups = new CoveringRows<readonly [NodeId], SignedStatement, GroupReceipt>({
  table: groupTable,
  open({ value: signed }, seq) {
    const group = storedStatements.group(signed.statement);
    return seq < group.first + group.size ? { group, signed } : undefined;
  },
});

/** The record of an id, of whichever node, or undefined. Throws `RecordDamagedError` where index and body disagree. */
export async function readRecord(store: Reads, id: RecordId): Promise<WrittenRecord | undefined> {
  const seq = await recordIndex.get(store, id);
  if (seq === undefined) return undefined;
  const texts = await readTexts(store, nodeOfRecord(id), seq);
  const record = texts === undefined ? undefined : tryOpenRecord(texts);
  if (texts === undefined || record?.id !== id) throw new RecordDamagedError(`the stored record of ${id} is damaged`);
  return { record, texts };
}

/** Returns a record that this node made. Throws `RangeError` where the store has none of that id. */
export async function requireRecord(store: Reads, id: RecordId): Promise<AttestationRecord> {
  const found = await readRecord(store, id);
  if (found === undefined) throw new RangeError(`${id} is not in the store`);
  return found.record;
}

/** A record that this node made itself; undefined where the id is another node's, or none. */
export async function readOwnRecord(
  store: Reads,
  self: NodeId,
  id: RecordId | undefined,
): Promise<AttestationRecord | undefined> {
  return id !== undefined && nodeOfRecord(id) === self ? (await readRecord(store, id))?.record : undefined;
}

/** Exact texts of a node's record `seq`, or undefined where the node's records do not reach so far. */
export function readTexts(store: Reads, node: NodeId, seq: number): Promise<WholeTexts | undefined> {
  return bodies.find(store, [node], seq);
}

/** The signed group that covers a node's record `seq`. */
export function readGroup(store: Reads, node: NodeId, seq: number): Promise<GroupReceipt | undefined> {
  return groups.find(store, [node], seq);
}

/** Texts of a node's records `first` … `first + size - 1`, in order. */
export async function* readRecordTexts(
  store: Reads,
  node: NodeId,
  first: number,
  size: number,
): AsyncGenerator<WholeTexts> {
  for await (const records of readTextRows(store, node, first, size)) yield* records;
}

/** The same, those of a row together: to hand over each by itself costs more than to read it. */
export async function* readTextRows(
  store: Reads,
  node: NodeId,
  first: number,
  size: number,
): AsyncGenerator<readonly WholeTexts[]> {
  const start = await bodyTable.last(store, [node], first);
  if (start === undefined) return;
  const end = first + size;
  for await (const [[at = ''], body] of bodyTable.under(store, [node], { from: Number(start[0]) })) {
    const rowFirst = Number(at);
    if (rowFirst >= end) return;
    const records = splitTexts(body);
    yield records.slice(Math.max(0, first - rowFirst), Math.max(0, end - rowFirst));
  }
}

/** The record of an id and those of its node after it, so many in all. Throws `RecordDamagedError`. */
export async function readRecordsFrom(
  store: Reads,
  id: RecordId,
  count: number,
): Promise<readonly AttestationRecord[]> {
  const first = await readRecord(store, id);
  if (first === undefined) throw new RecordDamagedError(`${id} is not in the store`);
  const slices = new TimeSlices();
  const records: AttestationRecord[] = [];
  for await (const texts of readRecordTexts(store, nodeOfRecord(id), first.record.seq, count)) {
    if (slices.isOver) await slices.rest();
    const record = tryOpenRecord(texts);
    if (record === undefined) throw new RecordDamagedError(`a record after ${id} is damaged`);
    records.push(record);
  }
  if (records.length < count) throw new RecordDamagedError(`records after ${id} are missing`);
  return records;
}

/** The record of stored texts; undefined where they are not whole. */
export function tryOpenRecord(texts: WholeTexts): AttestationRecord | undefined {
  try {
    return openRecord(nativeSuite, texts);
  } catch {
    return undefined;
  }
}
