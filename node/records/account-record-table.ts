import { isAccountId } from '../../protocol/accounts/account-id.ts';
import { type NodeId, type RecordId, recordId } from '../../protocol/ids.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { Operation } from '../store/operation.ts';
import type { Reads } from '../store/store.ts';
import { Table, textCodec } from '../store/table.ts';
import type { Projection } from './projection.ts';

/** The kinds of records by which nodes speak of an account's keys. */
export type AccountRecordKind = 'account' | 'account_key_refused';

/** Whether a record is of such a kind. */
export function isAccountRecord({ kind }: Pick<AttestationRecord, 'kind'>): boolean {
  return kind === 'account' || kind === 'account_key_refused';
}

/**
 * (account, kind, node that made it, its seq) → id of the record. Of the records of every node, written with them: a
 * projection of the signed texts, so that a row of a node that has no say is there too.
 */
const accountRecordTable = new Table('account-record', textCodec);

export const accountRecordProjection: Projection = {
  table: accountRecordTable,
  rowsOf(record: AttestationRecord): Operation[] {
    const { id, kind, account, node, seq } = record;
    return isAccountRecord(record) && isAccountId(account)
      ? [accountRecordTable.put([account, kind, node, seq], id)]
      : [];
  },
};

/** Ids of the versions of an account's statement that its home made, the newest first. */
export async function* versionIds(store: Reads, account: string, home: NodeId): AsyncGenerator<RecordId> {
  for await (const [, id] of accountRecordTable.under(store, [account, 'account', home], { reverse: true })) {
    yield recordId(id);
  }
}

/** The last version of an account's statement among the records of its home up to `atMost`; by default of all. */
export async function lastVersion(
  store: Reads,
  account: string,
  home: NodeId,
  atMost?: number,
): Promise<{ readonly id: RecordId; readonly seq: number } | undefined> {
  const row = await accountRecordTable.last(store, [account, 'account', home], atMost);
  return row && { seq: Number(row[0]), id: recordId(row[1]) };
}

/** Ids of the records by which a node refused keys of an account, oldest first, at most `limit`. */
export async function refusalIds(store: Reads, account: string, node: NodeId, limit: number): Promise<RecordId[]> {
  const ids: RecordId[] = [];
  const rows = accountRecordTable.under(store, [account, 'account_key_refused', node], { limit });
  for await (const [, id] of rows) ids.push(recordId(id));
  return ids;
}

/** Id of the newest version of an account's statement that its home made, among its records up to a seq. */
export async function versionIdUpTo(
  store: Reads,
  account: string,
  home: NodeId,
  seq?: number,
): Promise<RecordId | undefined> {
  const row = await accountRecordTable.last(store, [account, 'account', home], seq);
  return row && recordId(row[1]);
}
