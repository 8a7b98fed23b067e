import { isRecordId, type NodeId, nodeOfRecord } from '../../protocol/ids.ts';
import type { AttestationRecord, WholeTexts } from '../../protocol/chain/record.ts';
import { readTexts, tryOpenRecord } from '../records/record-reader.ts';
import { recordIndex } from '../records/record-tables.ts';
import type { Store } from '../store/store.ts';

/** Texts of a node's record; undefined also where its row does not read, which the walk over the bodies reports. */
export async function textsAt(store: Store, node: NodeId, seq: number): Promise<WholeTexts | undefined> {
  try {
    return await readTexts(store, node, seq);
  } catch {
    return undefined;
  }
}

export async function recordAt(store: Store, node: NodeId, seq: number): Promise<AttestationRecord | undefined> {
  const texts = await textsAt(store, node, seq);
  return texts && tryOpenRecord(texts);
}

/** The record of an id, of any node; undefined also where a row on the way does not read, which the walks report. */
export async function recordOfId(store: Store, id: string): Promise<AttestationRecord | undefined> {
  if (!isRecordId(id)) return undefined;
  const seq = await recordIndex.get(store, id).catch(() => undefined);
  const record = seq === undefined ? undefined : await recordAt(store, nodeOfRecord(id), seq);
  return record?.id === id ? record : undefined;
}
