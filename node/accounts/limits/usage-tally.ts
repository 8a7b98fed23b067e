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
  for (const record of records) {
    if (countsAsUse(record)) addToTally(tally, record.account, dayOf(record.submittedAt));
  }
  return tally;
}

/** Counts one more record of an account and day. */
export function addToTally(tally: Map<string, TalliedDay>, account: string, day: UtcDay): void {
  const key = usageTable.key(account, day);
  const known = tally.get(key);
  if (known === undefined) tally.set(key, { account, day, records: 1 });
  else known.records++;
}
