import { subjectTable } from '../governance/subjects.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { readSeed } from '../records/payload/payload-keys.ts';
import type { Check, TableCheck } from './check.ts';
import { recordOfId } from './record-at.ts';
import { readRows } from './rows.ts';

/** Account, pseudonym, record. */
const KEY_PARTS = 3;

/** Rows by which a person's records are found: each leads to a record of this node and account that has its payload. */
export const subjectCheck: TableCheck = {
  tables: [subjectTable],
  async run(check) {
    for await (const { key, parts, value } of readRows(check, subjectTable)) {
      const [account = '', , id = ''] = parts;
      const { report, store } = check;
      if (parts.length !== KEY_PARTS || value !== id) {
        report.problem(subjectTable.name, key, 'is no row of this table');
        continue;
      }
      const record = await ownRecord(check, id, account);
      if (record === undefined) {
        report.problem(subjectTable.name, key, `leads to ${id}, which is no record of this account here`);
      } else if ((await readSeed(store, record)) === undefined) {
        report.warning(subjectTable.name, key, `leads to ${id}, whose payload is gone`);
      }
    }
  },
};

async function ownRecord({ store, own }: Check, id: string, account: string): Promise<AttestationRecord | undefined> {
  const record = await recordOfId(store, id);
  return record !== undefined && record.node === own && record.account === account ? record : undefined;
}
