import { accountTable, apiKeyTable } from '../accounts/accounts.ts';
import type { TableCheck } from './check.ts';
import { readRows } from './rows.ts';

const KEY_DIGEST = /^[0-9a-f]{64}$/;

/** Accounts under their own names; API keys as digests, each of an account that exists. */
export const accountCheck: TableCheck = {
  tables: [accountTable, apiKeyTable],
  async run(check) {
    const { report, store } = check;
    for await (const { key, value } of readRows(check, accountTable)) {
      report.count('accounts');
      if (value !== undefined && key !== accountTable.key(value.id)) {
        report.problem(accountTable.name, key, `holds the account ${value.id}`);
      }
    }
    for await (const { key, parts, value } of readRows(check, apiKeyTable)) {
      report.count('apiKeys');
      if (!KEY_DIGEST.test(parts.join('/'))) report.problem(apiKeyTable.name, key, 'is no digest of a key');
      if (value !== undefined && (await store.get(accountTable.key(value.account))) === undefined) {
        report.problem(apiKeyTable.name, key, `belongs to the account ${value.account}, which does not exist`);
      }
    }
  },
};
