import { hash } from 'node:crypto';
import { purgeDueTable } from '../store/due-purges.ts';
import type { TableCheck } from './check.ts';
import { readRows } from './rows.ts';

/** Rows that ended and are still to be purged: none of them is there any more. */
export const purgeCheck: TableCheck = {
  tables: [purgeDueTable],
  async run(check) {
    const { report, store } = check;
    for await (const { key, parts, value } of readRows(check, purgeDueTable)) {
      report.count('purgesDue');
      if (value === undefined) continue;
      const isNamed = parts.join('/') === hash('sha256', value, 'hex');
      if (!isNamed) report.problem(purgeDueTable.name, key, 'names another row');
      if (isNamed && (await store.get(value)) !== undefined) {
        report.problem(purgeDueTable.name, key, `is due for ${value}, which is still there`);
      }
    }
  },
};
