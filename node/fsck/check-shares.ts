import { homeOf } from '../../protocol/accounts/account-id.ts';
import { MAX_SHARE_DAYS } from '../../protocol/api/shares.ts';
import { accountTable } from '../accounts/account.ts';
import { accountShareTable, shareTable } from '../accounts/sharing/share-table.ts';
import { DAY_MS } from '../accounts/sharing/share-terms.ts';
import type { Check, TableCheck } from './check.ts';
import { readRows } from './rows.ts';

const DIGEST = /^[0-9a-f]{64}$/;

/**
 * Links that share bundles: digests, each of an account that exists and in the list of its links, and none that works for
 * longer than one may. A row may be past its end, and its key may be gone: it is listed for a while.
 */
export const shareCheck: TableCheck = {
  tables: [shareTable, accountShareTable],
  async run(check) {
    await checkShares(check);
    await checkShareLists(check);
  },
};

async function checkShares({ own, ...check }: Check): Promise<void> {
  const { report, store } = check;
  for await (const { key, parts, value } of readRows(check, shareTable)) {
    report.count('shares');
    const problem = (detail: string): void => report.problem(shareTable.name, key, detail);
    if (!DIGEST.test(parts.join('/'))) problem('is no digest of a link');
    if (value === undefined) continue;
    const { account, id, createdAt, expiresAt } = value;
    // Of an account of another node its home alone has a row.
    const isForeign = own === null || (homeOf(account) ?? own) !== own;
    if (!isForeign && (await store.get(accountTable.key(account))) === undefined) {
      problem(`belongs to the account ${account}, which does not exist`);
    }
    if ((await accountShareTable.get(store, account, id)) !== parts.join('/')) {
      problem(`is not among the links of the account ${account}`);
    }
    if (Date.parse(expiresAt) - Date.parse(createdAt) > MAX_SHARE_DAYS * DAY_MS) {
      problem(`works for more than ${MAX_SHARE_DAYS} days`);
    }
  }
}

async function checkShareLists(check: Check): Promise<void> {
  for await (const { key, parts, value } of readRows(check, accountShareTable)) {
    if (value === undefined) continue;
    const held = DIGEST.test(value) ? await shareTable.get(check.store, value).catch(() => undefined) : undefined;
    if (held !== undefined && held.account === parts[0] && held.id === parts[1]) continue;
    check.report.problem(accountShareTable.name, key, 'names a link that is not there, or another one');
  }
}
