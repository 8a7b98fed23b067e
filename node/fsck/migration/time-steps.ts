import { groupStatement } from '../../../protocol/statement/group.ts';
import type { Timestamp } from '../../../protocol/time.ts';
import { groupTable } from '../../records/record-tables.ts';
import { timeStepOperations } from '../../records/time-steps.ts';
import type { MigrationStep } from './migration-step.ts';

/** Sorts right after `/`: the end of everything below a key. */
const AFTER_SLASH = '0';

/** A row of each own record whose time lies before that of the record before, as the statements of groups tell it. */
export const timeStepsStep: MigrationStep = {
  name: 'steps of time',
  from: 5,
  async run({ store, node, moved }) {
    if (node === null) return;
    let last: Timestamp | undefined;
    const groups = groupTable.key(node);
    for await (const [, bytes] of store.range({ gte: `${groups}/`, lt: groups + AFTER_SLASH })) {
      const group = tryRead(bytes);
      if (group === undefined) continue;
      const rows = last === undefined ? [] : timeStepOperations(node, group.first, last, group.signedAt);
      last = group.signedAt;
      if (rows.length === 0) continue;
      await store.write(rows);
      moved(rows.length);
    }
  },
};

function tryRead(bytes: Uint8Array): ReturnType<typeof groupStatement.parse> | undefined {
  try {
    return groupStatement.parse(groupTable.decode(bytes).statement);
  } catch {
    return undefined;
  }
}
