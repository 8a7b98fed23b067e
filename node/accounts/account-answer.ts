import { homeOf } from '../../protocol/accounts/account-id.ts';
import type { AccountAnswer } from '../../protocol/api/account.ts';
import type { Reads } from '../store/store.ts';
import type { Account } from './account.ts';
import type { AccountStore } from './account-store.ts';
import { newestVersion } from './statements/newest-version.ts';
import { statementDueTable } from './statements/statement-tables.ts';

/** An account as its owner sees it here: at its home by its row, elsewhere by the newest statement that this node holds. */
export async function accountAnswer(
  store: Reads,
  accountStore: Pick<AccountStore, 'account' | 'node'>,
  { id, tier }: Pick<Account, 'id' | 'tier'>,
): Promise<AccountAnswer['account']> {
  const home = homeOf(id) ?? accountStore.node;
  const newest = await newestVersion(store, id, home);
  const row = home === accountStore.node ? await accountStore.account(id) : undefined;
  const nodes = row === undefined ? (newest?.nodes ?? [home]) : (row.nodes ?? [home]);
  const due = await Array.fromAsync(statementDueTable.under(store, [id], { limit: 1 }));
  const [version, statement] = newest === undefined ? [null, null] : [newest.version, newest.id];
  return { id, home, tier, nodes: [...nodes], version, statement, pending: due.length > 0 };
}
