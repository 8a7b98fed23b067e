import { type AuditDay as UtcDay, dayOf, isAuditDay } from '../../../protocol/audit/day.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { CountEndShape, type CountedRows } from '../../records/count-end.ts';
import type { Store } from '../../store/store.ts';
import { jsonTable, numberCodec, Table } from '../../store/table.ts';

/** A day of UTC, `2026-11-21`. Text order is time order. */
export type { UtcDay };

const MONTH_CHARACTERS = '2026-11'.length;
const MAX_DAYS_OF_MONTH = 31;

/**
 * (account, UTC day) → records that the account's calls made on this node that day, by their `submittedAt`. The count
 * of a day without records has no row.
 */
export const usageTable = new Table('usage', numberCodec);
/**
 * (node) → how far its records are counted. No row beside counts: all of them, by a release that wrote each at once.
 */
export const usageEndTable = jsonTable('usage-end', CountEndShape);

/** Goes up where other records count than before: then all are counted again when the node starts. */
const USAGE_VERSION = 1;

export const COUNTED_USAGE: CountedRows = { rows: usageTable, ends: usageEndTable, version: USAGE_VERSION };

/** Whether key parts are those of a row. */
export function isUsageKey(parts: readonly string[]): boolean {
  const [account = '', day = '', ...rest] = parts;
  return account !== '' && isAuditDay(day) && rest.length === 0;
}

/** The day of epoch milliseconds. */
export function dayAt(epochMilliseconds: number): UtcDay {
  return dayOf(timestampOf(epochMilliseconds));
}

/** Epoch milliseconds at which the month of a day ends. */
export function endOfMonth(day: UtcDay): number {
  const first = new Date(`${monthOf(day)}-01T00:00:00Z`);
  return Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1);
}

/** `2026-11` */
export function monthOf(day: UtcDay): string {
  return day.slice(0, MONTH_CHARACTERS);
}

/** What the node attests of itself. */
const OF_THE_NODE: ReadonlySet<string> = new Set(['audit-head', 'settlement-head', 'list-edition', 'evidence-pack']);

/**
 * Whether an account made this record by a call of its own. Heads of its logs, its lists, packs of evidence, and what it says of accounts
 * and their keys, the node attests itself.
 */
export function countsAsUse({ kind, claims: { keyEvent } }: Pick<AttestationRecord, 'claims' | 'kind'>): boolean {
  if (kind === 'account' || kind === 'account_key_refused') return false;
  return keyEvent === undefined || !OF_THE_NODE.has(keyEvent);
}

/**
 * Records of an account on the days of a month up to and with `day`. Reads 31 rows at most. `unwritten`: counts that
 * were put off when it was asked; of a day's two, the larger one is the later.
 */
export async function recordsOfMonth(
  store: Store,
  account: string,
  day: UtcDay,
  unwritten: ReadonlyMap<UtcDay, number> = new Map(),
): Promise<number> {
  const month = monthOf(day);
  const days = new Map<string, number>([...unwritten].filter(([at]) => monthOf(at) === month && at <= day));
  for await (const [[at = ''], count] of usageTable.under(store, [account], {
    from: month,
    limit: MAX_DAYS_OF_MONTH,
  })) {
    if (at > day) break;
    days.set(at, Math.max(count, days.get(at) ?? 0));
  }
  return days.values().reduce((sum, records) => sum + records, 0);
}

/** Whether there is any count. */
export async function hasUsage(store: Store): Promise<boolean> {
  const prefix = usageTable.key('');
  const row = await store.first({ gte: prefix });
  return row?.[0].startsWith(prefix) === true;
}
