import { isRecordId, type NodeId, nodeOfRecord } from '../../protocol/ids.ts';
import { type AttestationRecord, recordText } from '../../protocol/statement/record.ts';
import { readRecordText } from '../records/record-reader.ts';
import { recordIndex } from '../records/record-tables.ts';
import type { Store } from '../store/store.ts';

/** Text of a node's record; undefined also where its row does not read, which the walk over the bodies reports. */
export async function textAt(store: Store, node: NodeId, seq: number): Promise<string | undefined> {
  try {
    return await readRecordText(store, node, seq);
  } catch {
    return undefined;
  }
}

export async function recordAt(store: Store, node: NodeId, seq: number): Promise<AttestationRecord | undefined> {
  const text = await textAt(store, node, seq);
  try {
    return text === undefined ? undefined : recordText.parse(text);
  } catch {
    return undefined;
  }
}

/** The record of an id, of any node; undefined also where a row on the way does not read, which the walks report. */
export async function recordOfId(store: Store, id: string): Promise<AttestationRecord | undefined> {
  if (!isRecordId(id)) return undefined;
  const seq = await recordIndex.get(store, id).catch(() => undefined);
  const record = seq === undefined ? undefined : await recordAt(store, nodeOfRecord(id), seq);
  return record?.id === id ? record : undefined;
}
