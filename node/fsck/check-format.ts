import { FORMAT_KEY, formatTable } from '../store/format.ts';
import type { TableCheck } from './check.ts';
import { readRows } from './rows.ts';

/** The version of the store's format stands alone. That it is this release's was seen before any row was read. */
export const formatCheck: TableCheck = {
  tables: [formatTable],
  async run(check) {
    for await (const { key } of readRows(check, formatTable)) {
      if (key !== FORMAT_KEY) check.report.problem(formatTable.name, key, 'belongs to nothing');
    }
  },
};
