import { hash } from 'node:crypto';
import { isNodeId } from '../../protocol/ids.ts';
import { REREAD_ROW, rereadTable } from '../federation/reread.ts';
import { type Restoration, restorationTable } from '../federation/start/restoration-table.ts';
import { ownNameTable, START_ROWS, startTable, type StartTold, startToldTable } from '../log/start-tables.ts';
import { readHead } from '../records/batch-tables.ts';
import { payloadKeyTable } from '../records/payload/payload-keys.ts';
import { purgeDueTable } from '../store/due-purges.ts';
import { FORMAT_KEY, formatTable } from '../store/format.ts';
import type { Check, TableCheck } from './check.ts';
import { readRows } from './rows.ts';

/** Node, and the time of the copy. */
const KEY_PARTS = 2;

/** What became of copies of this store: the chain is at least as long as any of them says. */
export const restorationCheck: TableCheck = {
  tables: [restorationTable],
  async run(check) {
    const { own, report } = check;
    const head = own === null ? undefined : await readHead(check.store, own).catch(() => undefined);
    for await (const { key, parts, value } of readRows(check, restorationTable)) {
      if (value === undefined) continue;
      report.count('restorations');
      for (const fault of faultsOf(check, parts, value, head?.envelope.batch ?? 0)) {
        report.problem(restorationTable.name, key, fault);
      }
      if (value.settled === null) {
        const detail = 'is a copy whose node signs nothing before it knows how far its chain went';
        report.find({ severity: 'note', table: restorationTable.name, key, detail });
      }
    }
  },
};

function faultsOf(
  { own }: Check,
  [node, takenAt, ...rest]: readonly string[],
  { takenAt: written, held, settled }: Restoration,
  head: number,
): string[] {
  const faults: string[] = [];
  if (rest.length > 0 || takenAt !== written) faults.push(`is no key of this table (${KEY_PARTS} parts)`);
  if (own === null) return faults;
  if (node !== own) faults.push('is of another node');
  if (held.batch > head) faults.push(`the copy held batch ${held.batch}, the store ends at ${head}`);
  const end = settled?.end.batch ?? held.batch;
  if (end > head) faults.push(`went on to batch ${end}, which is missing`);
  if (end < held.batch) faults.push('the chain became shorter');
  return faults;
}

/**
 * Rows that are still to be purged of what they held: none that ended is there any more. Rows of payload keys end place
 * by place.
 */
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

/**
 * The version of the store's format stands alone. That it is this release's was seen before any row was read. So does
 * the mark that the ledger is being read again.
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
