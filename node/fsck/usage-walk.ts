import { dayOf } from '../../protocol/audit/day.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import {
  COUNTED_USAGE,
  hasUsage,
  isUsageKey,
  type UtcDay,
  usageEndTable,
  usageTable,
} from '../accounts/limits/usage-table.ts';
import { addToTally, type TalliedDay } from '../accounts/limits/usage-tally.ts';
import { numberCodec } from '../store/table.ts';
import { type CountStanding, CountEndWalk } from './count-end-walk.ts';
import type { Check } from './check.ts';
import { DayEnds } from './day-ends.ts';
import type { RecordFacts } from './record-facts.ts';
import { readRows } from './rows.ts';

export const USAGE_TABLES = [usageTable, usageEndTable];

/** Rows remembered by their keys, to name those of no record. Past it they are only counted. */
const MAX_REMEMBERED_ROWS = 200_000;

/**
 * The counts of records by account and day, recounted along the own chain up to their mark; to its end where they have
 * none. Memory holds the days that records still fall on: one, but where their times go back. Without mark and rows nothing is proven: the
 * node counts all of its records when it starts.
 */
export class UsageWalk {
  readonly #check: Check;
  readonly #rememberedRows: number;
  #ends: DayEnds | undefined;
  #day: UtcDay | undefined;
  readonly #days = new Map<UtcDay, Map<string, TalliedDay>>();
  readonly #end: CountEndWalk;
  #standing: CountStanding | 'empty' | undefined;
  /** Rows that there must be and that are there. */
  #found = 0;
  readonly #keys = new Set<string>();
  #remembersAll = true;

  constructor(check: Check, rememberedRows = MAX_REMEMBERED_ROWS) {
    this.#check = check;
    this.#rememberedRows = rememberedRows;
    this.#end = new CountEndWalk(check, COUNTED_USAGE);
  }

  async take(records: readonly RecordFacts[]): Promise<void> {
    this.#standing ??= await this.#readStanding();
    if (this.#standing === 'empty' || this.#standing === 'other') return;
    for (const { seq, shared } of this.#end.counted(records)) {
      const day = dayOf(shared.submittedAt);
      if (day !== this.#day) await this.#endDays(seq, day);
      this.#day = day;
      if (shared.isUse) addToTally(this.#tallyOf(day), shared.account, day);
    }
  }

  /** After the last record. */
  async finish(): Promise<void> {
    this.#standing ??= await this.#readStanding();
    if (this.#standing === 'other') return;
    await this.#end.finish();
    for (const day of this.#days.keys()) await this.#endDay(day);
    let rows = 0;
    for await (const { key, parts } of readRows(this.#check, usageTable)) {
      rows++;
      if (!isUsageKey(parts)) this.#stray(key, 'is no key of this table');
      else if (this.#remembersAll && !this.#keys.has(key)) this.#stray(key, 'belongs to no record');
    }
    if (!this.#remembersAll && rows > this.#found) this.#stray(null, `${rows - this.#found} rows belong to no record`);
  }

  async #readStanding(): Promise<CountStanding | 'empty'> {
    const { store, report } = this.#check;
    const standing = await this.#end.read();
    if (standing !== 'unmarked' || (await hasUsage(store))) return standing;
    report.find({
      severity: 'note',
      table: usageTable.name,
      key: null,
      detail: 'has no row: the node counts its records at its next start',
    });
    return 'empty';
  }

  #tallyOf(day: UtcDay): Map<string, TalliedDay> {
    const known = this.#days.get(day);
    if (known !== undefined) return known;
    const made = new Map<string, TalliedDay>();
    this.#days.set(day, made);
    return made;
  }

  async #endDays(seq: number, current: UtcDay): Promise<void> {
    this.#ends ??= await DayEnds.read(this.#check);
    for (const day of this.#ends.over(this.#days.keys(), seq, current)) await this.#endDay(day);
  }

  async #endDay(day: UtcDay): Promise<void> {
    const { store, report } = this.#check;
    const tally = this.#tallyOf(day);
    this.#days.delete(day);
    const keys = [...tally.keys()];
    const stored = await store.getMany(keys);
    keys.forEach((key, i) => {
      const bytes = stored[i];
      if (bytes === undefined) return report.problem(usageTable.name, key, 'is missing');
      this.#found++;
      this.#remember(key);
      report.count('usageDays');
      const records = tally.get(key)?.records ?? 0;
      // A row that does not read is reported by `finish`.
      if (!equalBytes(bytes, numberCodec.encode(records))) {
        report.problem(usageTable.name, key, `does not count ${records} records`);
      }
    });
  }

  #remember(key: string): void {
    if (this.#keys.size < this.#rememberedRows) this.#keys.add(key);
    else this.#remembersAll = false;
  }

  #stray(key: string | null, detail: string): void {
    this.#check.report.problem(usageTable.name, key, detail);
  }
}
