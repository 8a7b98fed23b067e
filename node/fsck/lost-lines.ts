import { type AuditDay, dayEnd } from '../../protocol/audit/day.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { restorationTable } from '../federation/start/restoration-table.ts';
import type { Check } from './check.ts';
import { Report } from './report.ts';
import { readRows } from './rows.ts';

/**
 * Whether a record attests a day of which lines are lost with the store that this one was copied from: the record was
 * taken back from other members, and the day was not over when the copy was taken.
 */
export type AttestsLost = (record: Pick<AttestationRecord, 'node' | 'seq'>, day: AuditDay) => boolean;

/** What a detail says of a day whose lines are lost so. */
export const LOST_WITH_RESTORE = 'its lines after the copy that this store was restored from are lost';

/** A row that does not read explains nothing; it is reported where its table is checked. */
export async function readLostLines(check: Check): Promise<AttestsLost> {
  const { own } = check;
  if (own === null) return () => false;
  const spans: { readonly takenAt: number; readonly first: number; readonly end: number }[] = [];
  for await (const { value } of readRows({ ...check, report: new Report() }, restorationTable, own)) {
    if (value === undefined) continue;
    const { takenAt, held, unsealed, settled } = value;
    spans.push({
      takenAt: Date.parse(takenAt),
      first: held.next + unsealed,
      end: settled === null ? Number.POSITIVE_INFINITY : settled.end.next,
    });
  }
  return ({ node, seq }, day) =>
    node === own && spans.some(({ takenAt, first, end }) => seq >= first && seq < end && dayEnd(day) > takenAt);
}
