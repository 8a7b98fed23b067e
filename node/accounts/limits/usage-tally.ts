import { dayOf } from '../../../protocol/audit/day.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { countsAsUse, type UtcDay, usageTable } from './usage-table.ts';

export interface TalliedDay {
  readonly account: string;
  readonly day: UtcDay;
  records: number;
}

/** Some records counted by account and UTC day: under the key of the row that they move. */
export function tallyUsage(records: Iterable<AttestationRecord>): Map<string, TalliedDay> {
  const tally = new Map<string, TalliedDay>();
  for (const record of records) addToTally(tally, record);
  return tally;
}

export function addToTally(tally: Map<string, TalliedDay>, record: AttestationRecord): void {
  if (!countsAsUse(record)) return;
  const { account } = record;
  const day = dayOf(record.submittedAt);
  const key = usageTable.key(account, day);
  const known = tally.get(key);
  if (known === undefined) tally.set(key, { account, day, records: 1 });
  else known.records++;
}
