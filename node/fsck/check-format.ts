import { REREAD_ROW, rereadTable } from '../federation/reread.ts';
import { FORMAT_KEY, formatTable } from '../store/format.ts';
import type { TableCheck } from './check.ts';
import { readRows } from './rows.ts';

/**
 * The version of the store's format stands alone. That it is this release's was seen before any row was read. So does the
 * mark that the ledger is being read anew.
 */
export const formatCheck: TableCheck = {
  tables: [formatTable, rereadTable],
  async run(check) {
    for await (const { key } of readRows(check, formatTable)) {
      if (key !== FORMAT_KEY) check.report.problem(formatTable.name, key, 'belongs to nothing');
    }
    for await (const { key, value } of readRows(check, rereadTable)) {
      if (key !== rereadTable.key(REREAD_ROW)) check.report.problem(rereadTable.name, key, 'belongs to nothing');
      else if (value !== undefined) check.report.notChecked.push('what the ledger says: it is being read anew');
    }
  },
};
