import { dayOf } from '../../protocol/audit/day.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { hasUsage } from '../limits/usage-rebuild.ts';
import { isUsageKey, type UtcDay, usageTable } from '../limits/usage-table.ts';
import { addToTally, type TalliedDay } from '../limits/usage-tally.ts';
import { numberCodec } from '../store/table.ts';
import type { Check } from './check.ts';
import { readRows } from './rows.ts';

/** Rows remembered by their keys, to name those of no record. Past it they are only counted. */
const MAX_REMEMBERED_ROWS = 200_000;

/**
 * The counts of records by account and day, recounted along the own chain. Records stand in order of time, so memory
 * holds one day of them. Without any row nothing is proven: the node counts all of its records when it starts.
 */
export class UsageWalk {
  readonly #check: Check;
  readonly #rememberedRows: number;
  #day: UtcDay | undefined;
  #tally = new Map<string, TalliedDay>();
  #isCounted: boolean | undefined;
  /** Rows that there must be and that are there. */
  #found = 0;
  readonly #keys = new Set<string>();
  #remembersAll = true;

  constructor(check: Check, rememberedRows = MAX_REMEMBERED_ROWS) {
    this.#check = check;
    this.#rememberedRows = rememberedRows;
  }

  async take(records: readonly AttestationRecord[]): Promise<void> {
    this.#isCounted ??= await this.#looksCounted();
    if (!this.#isCounted) return;
    for (const record of records) {
      const day = dayOf(record.submittedAt);
      if (day !== this.#day) await this.#endDay();
      this.#day = day;
      addToTally(this.#tally, record);
    }
  }

  /** After the last record. */
  async finish(): Promise<void> {
    await this.#endDay();
    let rows = 0;
    for await (const { key, parts } of readRows(this.#check, usageTable)) {
      rows++;
      if (!isUsageKey(parts)) this.#stray(key, 'is no key of this table');
      else if (this.#remembersAll && !this.#keys.has(key)) this.#stray(key, 'belongs to no record');
    }
    if (!this.#remembersAll && rows > this.#found) this.#stray(null, `${rows - this.#found} rows belong to no record`);
  }

  async #looksCounted(): Promise<boolean> {
    const { store, report } = this.#check;
    if (await hasUsage(store)) return true;
    report.find({
      severity: 'note',
      table: usageTable.name,
      key: null,
      detail: 'has no row: the node counts its records at its next start',
    });
    return false;
  }

  async #endDay(): Promise<void> {
    const { store, report } = this.#check;
    const tally = this.#tally;
    this.#tally = new Map();
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
