import { isNodeId } from '../../protocol/ids.ts';
import { readHead } from '../records/batch-tables.ts';
import { ownNameTable, START_ROWS, startTable, type StartTold, startToldTable } from '../log/start-tables.ts';
import type { Check, TableCheck } from './check.ts';
import { readRows } from './rows.ts';

/** What a start has to know of the runs before: which rows there are, and that the chains reach as far as they say. */
export const startCheck: TableCheck = {
  tables: [startTable, startToldTable, ownNameTable],
  async run(check) {
    await checkMarks(check);
    await checkTold(check);
    await checkNames(check);
  },
};

async function checkMarks(check: Check): Promise<void> {
  const { own, report, store } = check;
  const head = own === null ? undefined : await readHead(store, own).catch(() => undefined);
  for await (const { key, parts, value } of readRows(check, startTable)) {
    const [row = '', ...rest] = parts;
    if (rest.length > 0 || !START_ROWS.some((known) => known === row)) {
      report.problem(startTable.name, key, 'is no key of this table');
      continue;
    }
    if (value === undefined || own === null) continue;
    const held = head?.envelope.batch ?? 0;
    if (row === 'taken-back' && value > held) {
      report.problem(startTable.name, key, `batch ${value} was taken back, the store ends at ${held}`);
    }
  }
}

async function checkTold(check: Check): Promise<void> {
  for await (const { key, parts, value } of readRows(check, startToldTable)) {
    const [node = '', ...rest] = parts;
    if (rest.length > 0 || !isNodeId(node)) check.report.problem(startToldTable.name, key, 'is no key of this table');
    else if (value !== undefined && isTornApart(value)) {
      check.report.problem(startToldTable.name, key, 'ends before it begins');
    }
  }
}

async function checkNames(check: Check): Promise<void> {
  for await (const { key, parts } of readRows(check, ownNameTable)) {
    const isBatch = parts.length === 1 && Number(parts[0]) > 0;
    if (!isBatch) check.report.problem(ownNameTable.name, key, 'is no key of this table');
  }
}

function isTornApart({ since }: StartTold): boolean {
  return since !== null && since.last < since.first;
}
