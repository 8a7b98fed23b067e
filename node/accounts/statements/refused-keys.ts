import { homeOf } from '../../../protocol/accounts/account-id.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { refusalOf } from '../../records/refused-key-table.ts';
import type { Operation } from '../../store/operation.ts';
import type { Reads } from '../../store/store.ts';
import type { AccountStore, HeldKey } from '../account-store.ts';
import { keyEvent } from '../account-event.ts';
import { keyOperations, keyState } from '../api-key.ts';
import { dueOperation } from './statement-tables.ts';

/** Of records of other nodes, those by which one refuses a key of an account of this home. */
export function refusalsAmong(home: NodeId, records: readonly AttestationRecord[]): readonly AttestationRecord[] {
  return records.filter(({ kind, account }) => kind === 'account_key_refused' && homeOf(account) === home);
}

/** The rows by which such records are looked at, for their own write. */
export function refusalOperations(refusals: readonly AttestationRecord[]): readonly Operation[] {
  return refusals.map(({ account, submittedAt }) => dueOperation(account, 'refused', Date.parse(submittedAt)));
}

/**
 * Ends the keys of an account that a node which has a say in it has refused (TRUST §5). Like any other change it is recorded,
 * and makes the account's statement due. Resolves to whether there was any.
 */
export function endRefusedKeys(
  accountStore: Pick<AccountStore, 'change' | 'keys' | 'now'>,
  store: Reads,
  account: string,
  nodes: readonly NodeId[],
): Promise<boolean> {
  return accountStore.change(async () => {
    const now = accountStore.now();
    const refused: HeldKey[] = [];
    for (const held of await accountStore.keys(account)) {
      if (keyState(held.key, now) !== 'active') continue;
      if ((await refusalOf(store, account, held.key.id, nodes)) !== undefined) refused.push(held);
    }
    const revokedAt = timestampOf(now);
    return {
      operations: refused.flatMap(({ digest, key }) => keyOperations(digest, { ...key, revokedAt })),
      events: refused.map(({ key }) => keyEvent('key.revoked', key, 'node')),
      result: refused.length > 0,
    };
  });
}
