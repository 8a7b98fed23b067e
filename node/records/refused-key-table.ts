import { isAccountId } from '../../protocol/accounts/account-id.ts';
import { refusedKeyOf } from '../../protocol/accounts/refused-key.ts';
import type { KeyId } from '../../protocol/accounts/key-id.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { type NodeId, type RecordId, recordId } from '../../protocol/ids.ts';
import type { Operation } from '../store/operation.ts';
import type { Reads } from '../store/store.ts';
import { Table, textCodec } from '../store/table.ts';
import type { Projection } from './projection.ts';

/**
 * (account, key, node that refused it, seq) → id of the record. Of the records of every node, as they are signed: whether a
 * node has a say in the account is for whoever reads it.
 */
const refusedKeyTable = new Table('refused-key', textCodec);

export const refusedKeyProjection: Projection = {
  table: refusedKeyTable,
  rowsOf(record: AttestationRecord): Operation[] {
    const key = refusedKeyOf(record);
    const { account, id, node, seq } = record;
    return key === undefined || !isAccountId(account) ? [] : [refusedKeyTable.put([account, key, node, seq], id)];
  },
};

/** Id of the record by which the first of these nodes that did so refused a key of an account; undefined where none did. */
export async function refusalOf(
  store: Reads,
  account: string,
  key: KeyId,
  nodes: Iterable<NodeId>,
): Promise<RecordId | undefined> {
  for (const node of nodes) {
    const row = await refusedKeyTable.last(store, [account, key, node]);
    if (row !== undefined) return recordId(row[1]);
  }
  return undefined;
}
