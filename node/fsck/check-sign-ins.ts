import { SIGN_IN_HOURS } from '../../protocol/api/sign-ins.ts';
import { accountSignInTable, signInTable } from '../accounts/sign-ins/sign-in-table.ts';
import type { Check, TableCheck } from './check.ts';
import { readRows } from './rows.ts';

const DIGEST = /^[0-9a-f]{64}$/;
const HOUR_MS = 3_600_000;

/** Who is signed in: digests, each in the list of its account, and none for longer than one may be. */
export const signInCheck: TableCheck = {
  tables: [signInTable, accountSignInTable],
  async run(check) {
    await checkSignIns(check);
    await checkLists(check);
  },
};

async function checkSignIns(check: Check): Promise<void> {
  const { report, store } = check;
  for await (const { key, parts, value } of readRows(check, signInTable)) {
    report.count('signIns');
    const problem = (detail: string): void => report.problem(signInTable.name, key, detail);
    if (!DIGEST.test(parts.join('/'))) problem('is no digest of a secret');
    if (value === undefined) continue;
    const { account, id, createdAt, expiresAt } = value;
    if ((await accountSignInTable.get(store, account, id)) !== parts.join('/')) {
      problem(`is not among the sign-ins of the account ${account}`);
    }
    if (Date.parse(expiresAt) - Date.parse(createdAt) > SIGN_IN_HOURS * HOUR_MS) {
      problem(`holds for more than ${SIGN_IN_HOURS} hours`);
    }
  }
}

async function checkLists(check: Check): Promise<void> {
  for await (const { key, parts, value } of readRows(check, accountSignInTable)) {
    if (value === undefined) continue;
    const held = DIGEST.test(value) ? await signInTable.get(check.store, value).catch(() => undefined) : undefined;
    if (held !== undefined && held.account === parts[0] && held.id === parts[1]) continue;
    check.report.problem(accountSignInTable.name, key, 'names a sign-in that is not there, or another one');
  }
}
