import { overseenBatchTable, policyTable, waitingTable } from '../governance/oversight/oversight-tables.ts';
import { readRecord } from '../records/record-reader.ts';
import type { TableCheck } from './check.ts';
import { readRows } from './rows.ts';

/** Policies under their accounts, and own decisions that wait for a person by one of them. */
export const oversightCheck: TableCheck = {
  tables: [policyTable, waitingTable, overseenBatchTable],
  async run(check) {
    for await (const { key, parts, value } of readRows(check, policyTable)) {
      check.report.count('oversightPolicies');
      if (value === undefined || (value.account === parts[0] && value.id === parts[1])) continue;
      check.report.problem(policyTable.name, key, 'is of another account, or another policy');
    }
    for await (const { key, parts, value } of readRows(check, waitingTable)) {
      if (value === undefined) continue;
      const found = await readRecord(check.store, value.attestationId).catch(() => undefined);
      const isIts = found !== undefined && found.record.account === parts[0] && found.record.seq === Number(parts[1]);
      if (!isIts) check.report.problem(waitingTable.name, key, 'is not of the record that it names');
    }
    await Array.fromAsync(readRows(check, overseenBatchTable));
  },
};
