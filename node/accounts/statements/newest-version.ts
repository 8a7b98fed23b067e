import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import { versionIds } from '../../records/account-record-table.ts';
import { readRecord } from '../../records/record-reader.ts';
import type { Reads } from '../../store/store.ts';

/** A version of an account's statement, as its record's claims tell of it. */
export interface AccountVersion {
  readonly id: RecordId;
  readonly version: number;
  readonly nodes: readonly NodeId[];
}

/** The newest version that an account's home has made and this store holds; undefined where there is none. */
export async function newestVersion(store: Reads, account: string, home: NodeId): Promise<AccountVersion | undefined> {
  for await (const id of versionIds(store, account, home)) {
    const { version, nodes } = (await readRecord(store, id))?.record.claims ?? {};
    if (version !== undefined && nodes !== undefined) return { id, version, nodes };
  }
  return undefined;
}
