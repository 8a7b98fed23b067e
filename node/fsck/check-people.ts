import { emailDigest } from '../accounts/mail/mail-address.ts';
import { personAddressTable, personTable } from '../accounts/people/person-table.ts';
import type { TableCheck } from './check.ts';
import { readRows } from './rows.ts';

/** People of accounts, each found by the address, at the account, and there alone. */
export const peopleCheck: TableCheck = {
  tables: [personTable, personAddressTable],
  async run(check) {
    for await (const { key, parts, value } of readRows(check, personTable)) {
      check.report.count('people');
      if (value === undefined) continue;
      const { id, account, email } = value;
      const problem = (detail: string): void => check.report.problem(personTable.name, key, detail);
      if (account !== parts[0] || id !== parts[1]) problem('is of another account, or another person');
      if ((await personAddressTable.get(check.store, emailDigest(email), account)) !== id) {
        problem('is not found by the address');
      }
    }
    for await (const { key, parts, value } of readRows(check, personAddressTable)) {
      const [digest, account = ''] = parts;
      if (value === undefined) continue;
      const person = await personTable.get(check.store, account, value).catch(() => undefined);
      if (person !== undefined && emailDigest(person.email) === digest) continue;
      check.report.problem(personAddressTable.name, key, 'leads to nobody, or to somebody of another address');
    }
  },
};
