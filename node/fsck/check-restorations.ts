import { type Restoration, restorationTable } from '../federation/start/restoration-table.ts';
import { readHead } from '../records/batch-tables.ts';
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
