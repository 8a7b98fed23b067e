import { parseLedgerMessage } from '../../protocol/log/message.ts';
import { namedForOtherTable } from '../anchoring/others-limits.ts';
import { type RescueRow, rescueOutboxTable } from '../anchoring/outbox.ts';
import { heldAtRemovalTable } from '../log/rescue.ts';
import { stateFaults } from './check-outbox.ts';
import type { TableCheck } from './check.ts';
import { readRows } from './rows.ts';

const NAMED_KINDS: readonly string[] = ['rescue', 'revocation'];
/** Kind, and the node that was named for. */
const COUNT_PARTS = 2;

/** Batches of other nodes on their way to the ledger, each in a state that its lifecycle allows, and how many a day. */
export const rescueCheck: TableCheck = {
  tables: [rescueOutboxTable, namedForOtherTable, heldAtRemovalTable],
  async run(check) {
    for await (const { key, value } of readRows(check, rescueOutboxTable)) {
      if (value === undefined) continue;
      for (const fault of rescueFaults(value)) check.report.problem(rescueOutboxTable.name, key, fault);
      if (key !== rescueOutboxTable.key(value.rescued, value.number)) {
        check.report.problem(rescueOutboxTable.name, key, 'stands under another key');
      }
      check.report.count('rescuesOpen');
    }
    for await (const { key, parts } of readRows(check, namedForOtherTable)) {
      const isKnown = parts.length === COUNT_PARTS && NAMED_KINDS.includes(parts[0] ?? '');
      if (!isKnown) check.report.problem(namedForOtherTable.name, key, 'is no key of this table');
    }
    for await (const { key, parts } of readRows(check, heldAtRemovalTable)) {
      if (parts.length !== 1) check.report.problem(heldAtRemovalTable.name, key, 'is no key of this table');
    }
  },
};

function rescueFaults(row: RescueRow): string[] {
  const faults = stateFaults(row, false);
  return isNamedBy(row) ? faults : [...faults, 'its message does not name that batch'];
}

function isNamedBy({ rescued, number, message }: RescueRow): boolean {
  try {
    const named = parseLedgerMessage(message);
    return named.type === 'batch' && named.node === rescued && named.batch === number;
  } catch {
    return false;
  }
}
