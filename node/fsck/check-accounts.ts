import { homeOf, isAccountId } from '../../protocol/accounts/account-id.ts';
import { signUpTable } from '../accounts/account-store.ts';
import { accountTable } from '../accounts/account.ts';
import { accountKeyTable, apiKeyTable } from '../accounts/api-key.ts';
import { lostKeyTable } from '../accounts/lost-key/lost-key-table.ts';
import { emailDigest } from '../accounts/mail/mail-address.ts';
import { newestVersion, statedVersionTable, statementDueTable } from '../accounts/statements/statement-tables.ts';
import type { Check, TableCheck } from './check.ts';
import { readRows } from './rows.ts';

const DIGEST = /^[0-9a-f]{64}$/;

/**
 * Accounts under their own names, naming other nodes only at their home, and no version of a statement published that
 * is not in the chain; API keys as digests, each of an account that exists and in the list of its keys.
 */
export const accountCheck: TableCheck = {
  tables: [
    accountTable,
    apiKeyTable,
    accountKeyTable,
    signUpTable,
    lostKeyTable,
    statementDueTable,
    statedVersionTable,
  ],
  async run(check) {
    await checkAccounts(check);
    await checkKeys(check);
    await checkKeyLists(check);
    await checkSignUps(check);
    await checkDueStatements(check);
    await checkStatedVersions(check);
    await checkLostKeys(check);
  },
};

async function checkAccounts(check: Check): Promise<void> {
  for await (const { key, value } of readRows(check, accountTable)) {
    check.report.count('accounts');
    if (value !== undefined && key !== accountTable.key(value.id)) {
      check.report.problem(accountTable.name, key, `holds the account ${value.id}`);
    }
    const { id, nodes } = value ?? {};
    const home = id === undefined ? undefined : homeOf(id);
    if (nodes === undefined || check.own === null) continue;
    if (home !== check.own || !nodes.includes(home)) {
      check.report.problem(
        accountTable.name,
        key,
        'names other nodes, and this one is not its home or is not among them',
      );
    }
  }
}

async function checkKeys(check: Check): Promise<void> {
  const { report, store } = check;
  for await (const { key, parts, value } of readRows(check, apiKeyTable)) {
    report.count('apiKeys');
    if (!DIGEST.test(parts.join('/'))) report.problem(apiKeyTable.name, key, 'is no digest of a key');
    if (value === undefined) continue;
    if ((await store.get(accountTable.key(value.account))) === undefined) {
      report.problem(apiKeyTable.name, key, `belongs to the account ${value.account}, which does not exist`);
    }
    if ((await accountKeyTable.get(store, value.account, value.id)) !== parts.join('/')) {
      report.problem(apiKeyTable.name, key, `is not among the keys of the account ${value.account}`);
    }
  }
}

async function checkKeyLists(check: Check): Promise<void> {
  for await (const { key, parts, value } of readRows(check, accountKeyTable)) {
    if (value === undefined) continue;
    const held = DIGEST.test(value) ? await apiKeyTable.get(check.store, value).catch(() => undefined) : undefined;
    if (held !== undefined && held.account === parts[0] && held.id === parts[1]) continue;
    check.report.problem(accountKeyTable.name, key, 'names a key that is not there, or another one');
  }
}

async function checkSignUps(check: Check): Promise<void> {
  for await (const { key, parts, value } of readRows(check, signUpTable)) {
    check.report.count('signUps');
    if (value === undefined) continue;
    const account = await accountTable.get(check.store, value).catch(() => undefined);
    if (account?.email !== undefined && emailDigest(account.email) === parts.join('/')) continue;
    check.report.problem(signUpTable.name, key, `leads to ${value}, which is no account of that address`);
  }
}

async function checkDueStatements(check: Check): Promise<void> {
  const { report, own } = check;
  for await (const { key, parts } of readRows(check, statementDueTable)) {
    const [account = '', name = '', ...rest] = parts;
    const isKey = isAccountId(account) && name !== '' && rest.length === 0;
    if (!isKey) report.problem(statementDueTable.name, key, 'is no key of this table');
    else if (own !== null && homeOf(account) !== own) {
      report.problem(statementDueTable.name, key, 'is due of an account whose home is another node');
    }
  }
}

async function checkStatedVersions(check: Check): Promise<void> {
  const { report, store, own } = check;
  for await (const { key, parts, value } of readRows(check, statedVersionTable)) {
    const [account = '', ...rest] = parts;
    if (!isAccountId(account) || rest.length > 0) {
      report.problem(statedVersionTable.name, key, 'is no key of this table');
    }
    if (value === undefined || own === null) continue;
    const newest = await newestVersion(store, account, own).catch(() => undefined);
    if ((newest?.version ?? 0) >= value) continue;
    report.problem(
      statedVersionTable.name,
      key,
      `version ${value} was published, the chain ends at ${newest?.version ?? 0}`,
    );
  }
}

/** A row may be past its end: it is removed within a quarter of an hour. */
async function checkLostKeys(check: Check): Promise<void> {
  for await (const { key, parts, value } of readRows(check, lostKeyTable)) {
    const { report, store } = check;
    report.count('lostKeyLinks');
    if (!DIGEST.test(parts.join('/'))) report.problem(lostKeyTable.name, key, 'is no digest of a link');
    if (value === undefined) continue;
    if ((await store.get(accountTable.key(value.account))) !== undefined) continue;
    report.problem(lostKeyTable.name, key, `replaces keys of the account ${value.account}, which does not exist`);
  }
}
