import { hash } from 'node:crypto';
import { payloadKeyTable } from '../records/payload/payload-keys.ts';
import { purgeDueTable } from '../store/due-purges.ts';
import type { TableCheck } from './check.ts';
import { readRows } from './rows.ts';

/** Rows that are still to be purged of what they held: none that ended is there any more. Rows of payload keys end place by place. */
export const purgeCheck: TableCheck = {
  tables: [purgeDueTable],
  async run(check) {
    const { report, store } = check;
    for await (const { key, parts, value } of readRows(check, purgeDueTable)) {
      report.count('purgesDue');
      if (value === undefined) continue;
      const isNamed = parts.join('/') === hash('sha256', value, 'hex');
      if (!isNamed) report.problem(purgeDueTable.name, key, 'names another row');
      if (isNamed && !value.startsWith(`${payloadKeyTable.name}/`) && (await store.get(value)) !== undefined) {
        report.problem(purgeDueTable.name, key, `is due for ${value}, which is still there`);
      }
    }
  },
};
