import { OWNER } from '../../protocol/api/people.ts';
import { personTable } from '../accounts/people/person-table.ts';
import { secondFactorTable } from '../accounts/second-factors/second-factor-table.ts';
import type { TableCheck } from './check.ts';
import { readRows } from './rows.ts';

/** What people show beside a mailed link: of the account's owner, or of a person of the account. */
export const secondFactorsCheck: TableCheck = {
  tables: [secondFactorTable],
  async run(check) {
    for await (const { key, parts, value } of readRows(check, secondFactorTable)) {
      check.report.count('secondFactors');
      if (value === undefined) continue;
      const { account, holder, factors } = value;
      const problem = (detail: string): void => check.report.problem(secondFactorTable.name, key, detail);
      if (account !== parts[0] || holder !== parts[1]) problem('is of another account, or of somebody else');
      if (new Set(factors.map(({ id }) => id)).size < factors.length) problem('has a second factor twice');
      if (holder === OWNER) continue;
      if ((await personTable.get(check.store, account, holder)) === undefined) problem('is of nobody of the account');
    }
  },
};
