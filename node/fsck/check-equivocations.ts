import { equivocationTable, openEnvelope } from '../federation/equivocations.ts';
import type { TableCheck } from './check.ts';
import { readRows, reasonOf } from './rows.ts';

/** Proofs of equivocation: two different envelopes for one batch, both signed by its node. */
export const equivocationCheck: TableCheck = {
  tables: [equivocationTable],
  async run(check) {
    const { report, keys } = check;
    for await (const { key, value } of readRows(check, equivocationTable)) {
      if (value === undefined || keys === null) continue;
      try {
        const first = openEnvelope(keys, value.first);
        const second = openEnvelope(keys, value.second);
        const isRival = value.first.statement !== value.second.statement;
        if (!isRival || first.node !== second.node || first.batch !== second.batch) {
          report.problem(equivocationTable.name, key, 'the two envelopes do not contradict each other');
        }
        if (key !== equivocationTable.key(first.node, first.batch)) {
          report.problem(equivocationTable.name, key, `proves something of batch ${first.node}/${first.batch}`);
        }
        report.count('equivocations');
      } catch (error) {
        report.problem(equivocationTable.name, key, reasonOf(error));
      }
    }
  },
};
