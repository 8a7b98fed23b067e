import { type NodeId, nodeOfRecord, type RecordId } from '../../protocol/ids.ts';
import { type Group, groupStatement } from '../../protocol/statement/group.ts';
import { type AttestationRecord, recordText } from '../../protocol/statement/record.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import type { Store } from '../store/store.ts';
import { bodyTable, groupTable, recordIndex, splitBody } from './record-tables.ts';

export interface StoredRecord {
  readonly record: AttestationRecord;
  /** Exact canonical text. */
  readonly text: string;
}

export class RecordDamagedError extends Error {
  override readonly name = 'RecordDamagedError';
}

/** The record of an id, of whichever node, or undefined. Throws `RecordDamagedError` where index and body disagree. */
export async function readRecord(store: Store, id: RecordId): Promise<StoredRecord | undefined> {
  const seq = await recordIndex.get(store, id);
  if (seq === undefined) return undefined;
  const text = await readRecordText(store, nodeOfRecord(id), seq);
  const record = text === undefined ? undefined : parseRecord(text);
  if (text === undefined || record?.id !== id) throw new RecordDamagedError(`the stored record of ${id} is damaged`);
  return { record, text };
}

/** A record that this node made itself; undefined where the id is another node's, or none. */
export async function readOwnRecord(
  store: Store,
  self: NodeId,
  id: RecordId | undefined,
): Promise<AttestationRecord | undefined> {
  return id !== undefined && nodeOfRecord(id) === self ? (await readRecord(store, id))?.record : undefined;
}

/** Exact text of a node's record `seq`, or undefined where the node's records do not reach so far. */
export async function readRecordText(store: Store, node: NodeId, seq: number): Promise<string | undefined> {
  const row = await bodyTable.last(store, [node], seq);
  if (row === undefined) return undefined;
  const [first, body] = row;
  return splitBody(body)[seq - Number(first)];
}

/** The signed group that covers a node's record `seq`. */
export async function readGroup(
  store: Store,
  node: NodeId,
  seq: number,
): Promise<{ readonly group: Group; readonly signed: SignedStatement } | undefined> {
  const row = await groupTable.last(store, [node], seq);
  if (row === undefined) return undefined;
  const group = groupStatement.parse(row[1].statement);
  return seq < group.first + group.size ? { group, signed: row[1] } : undefined;
}

/** Texts of a node's records `first` … `first + size - 1`, in order. */
export async function* readRecordTexts(
  store: Store,
  node: NodeId,
  first: number,
  size: number,
): AsyncGenerator<string> {
  const start = await bodyTable.last(store, [node], first);
  if (start === undefined) return;
  const end = first + size;
  for await (const [[at = ''], body] of bodyTable.under(store, [node], { from: Number(start[0]) })) {
    const rowFirst = Number(at);
    if (rowFirst >= end) return;
    const lines = splitBody(body);
    yield* lines.slice(Math.max(0, first - rowFirst), Math.max(0, end - rowFirst));
  }
}

function parseRecord(text: string): AttestationRecord | undefined {
  try {
    return recordText.parse(text);
  } catch {
    return undefined;
  }
}
