import { isRecordId, nodeOfRecord } from '../../protocol/ids.ts';
import { idempotencyTable } from '../intake/idempotency.ts';
import { duplicateTable } from '../intake/once-guard.ts';
import { recordIndex } from '../records/record-tables.ts';
import type { Check, TableCheck } from './check.ts';
import { readRows } from './rows.ts';

/** Account, and what the request is known by. */
const KEY_PARTS = 2;

/** Rows that keep a request from counting twice: each leads to a record of this node. */
export const guardCheck: TableCheck = {
  tables: [duplicateTable, idempotencyTable],
  async run(check) {
    for await (const { key, parts, value } of readRows(check, duplicateTable)) {
      check.report.count('duplicateGuards');
      if (value !== undefined) await checkLead(check, duplicateTable.name, key, parts, value);
    }
    for await (const { key, parts, value } of readRows(check, idempotencyTable)) {
      check.report.count('idempotencyKeys');
      if (value !== undefined) await checkLead(check, idempotencyTable.name, key, parts, value.id);
    }
  },
};

async function checkLead(
  { store, report, own }: Check,
  table: string,
  key: string,
  parts: readonly string[],
  id: string,
): Promise<void> {
  if (parts.length !== KEY_PARTS) report.problem(table, key, 'is no key of this table');
  else if (!isRecordId(id) || own === null || nodeOfRecord(id) !== own) {
    report.problem(table, key, `leads to ${id}, which is no record of this node`);
  } else if ((await store.get(recordIndex.key(id))) === undefined) {
    report.problem(table, key, `leads to record ${id}, which is not here`);
  }
}
