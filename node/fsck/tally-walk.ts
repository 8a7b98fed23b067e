import { type AuditDay as UtcDay, dayOf } from '../../protocol/audit/day.ts';
import { equalBytes } from '../../protocol/bytes.ts';
import { coarseFacetText, facetText } from '../../protocol/frameworks/facet.ts';
import type { RecordId } from '../../protocol/ids.ts';
import { sourceKey } from '../records/sources/sources.ts';
import type { Operation } from '../store/operation.ts';
import { DayTally } from '../records/counts/day-tally.ts';
import { ALL_SOURCES, TALLIED, tallyEndTable, tallyTable } from '../records/counts/tally-table.ts';
import type { Check } from './check.ts';
import { DayEnds } from './day-ends.ts';
import { CountEndWalk, notCounted } from './count-end-walk.ts';
import { recordOfId } from './record-at.ts';
import type { RecordFacts } from './record-facts.ts';
import { countRows, decodeRow, readRows } from './rows.ts';

export const TALLY_TABLES = [tallyTable, tallyEndTable];

/** Sources and accounts of days that are recounted in memory. The counts of a day that brings more are not looked at. */
const MAX_COUNTED = 200_000;

/**
 * The counts behind gap reports, recounted along the own chain up to their mark. Memory
 * holds the days that records still fall on: one, but where their times go back. Counts by other rules, or none, prove nothing: the node counts again when it starts.
 */
export class TallyWalk {
  readonly #check: Check;
  readonly #maxCounted: number;
  readonly #end: CountEndWalk;
  #isCounted: boolean | undefined;
  #ends: DayEnds | undefined;
  #day: UtcDay | undefined;
  /** By day: by account, and by account and source id; null where the day has too many of them. */
  readonly #days = new Map<UtcDay, Map<string, DayTally> | null>();
  /** Of all days together. */
  #counted = 0;
  #passedOver = 0;
  /** Rows that there must be and that are right. */
  #right = 0;

  constructor(check: Check, maxCounted = MAX_COUNTED) {
    this.#check = check;
    this.#maxCounted = maxCounted;
    this.#end = new CountEndWalk(check, TALLIED);
  }

  async take(records: readonly RecordFacts[]): Promise<void> {
    this.#isCounted ??= await this.#looksCounted();
    if (!this.#isCounted) return;
    for (const record of this.#end.counted(records)) {
      const day = dayOf(record.shared.submittedAt);
      if (day !== this.#day) await this.#endDays(record.seq, day);
      this.#day = day;
      this.#count(record, day);
    }
  }

  /** After the last record. */
  async finish(): Promise<void> {
    this.#isCounted ??= await this.#looksCounted();
    if (!this.#isCounted) return;
    for (const day of this.#days.keys()) await this.#endDay(day);
    await this.#end.finish();
    if (this.#passedOver > 0) {
      this.#check.report.notChecked.push(`counts of ${this.#passedOver} days with more sources than memory holds`);
    } else if ((await countRows(this.#check, tallyTable)) !== this.#right) {
      await this.#nameStray();
    }
  }

  async #looksCounted(): Promise<boolean> {
    const { own, report } = this.#check;
    const standing = await this.#end.read();
    if (standing === 'unmarked' && own !== null) report.find(notCounted(tallyEndTable, own));
    return standing === 'marked';
  }

  #count({ id, shared: { account, sourceId, source, facet } }: RecordFacts, day: UtcDay): void {
    const tallies = this.#talliesOf(day);
    if (tallies === null) return;
    this.#tallyOf(tallies, account, () => new DayTally(account, ALL_SOURCES, day)).add(facet, id);
    this.#tallyOf(tallies, source, () => new DayTally(account, sourceKey(sourceId), day)).add(facet, id);
    if (this.#counted <= this.#maxCounted) return;
    this.#counted -= tallies.size;
    this.#passedOver++;
    this.#days.set(day, null);
  }

  #talliesOf(day: UtcDay): Map<string, DayTally> | null {
    const known = this.#days.get(day);
    if (known !== undefined) return known;
    const made = new Map<string, DayTally>();
    this.#days.set(day, made);
    return made;
  }

  #tallyOf(tallies: Map<string, DayTally>, name: string, make: () => DayTally): DayTally {
    const known = tallies.get(name);
    if (known !== undefined) return known;
    const made = make();
    tallies.set(name, made);
    this.#counted++;
    return made;
  }

  async #endDays(seq: number, current: UtcDay): Promise<void> {
    this.#ends ??= await DayEnds.read(this.#check);
    for (const day of this.#ends.over(this.#days.keys(), seq, current)) await this.#endDay(day);
  }

  async #endDay(day: UtcDay): Promise<void> {
    const { store, report } = this.#check;
    const tallies = this.#days.get(day) ?? new Map<string, DayTally>();
    this.#days.delete(day);
    this.#counted -= tallies.size;
    for (const tally of tallies.values()) {
      const rows = tally.operations();
      const stored = await store.getMany(rows.map(({ key }) => key));
      rows.forEach((row, i) => this.#compare(row, stored[i]));
      report.count('tallies', rows.length);
    }
  }

  #compare(row: Operation, stored: Uint8Array | undefined): void {
    const { report } = this.#check;
    if (stored === undefined) return report.problem(tallyTable.name, row.key, 'is missing');
    if (row.type === 'put' && equalBytes(stored, row.value)) {
      this.#right++;
      return;
    }
    if (decodeRow(report, tallyTable, row.key, stored) !== undefined) {
      report.problem(tallyTable.name, row.key, 'does not count the records of its day');
    }
  }

  /** Rows that are not among those compared: each is asked for the record that it names last. */
  async #nameStray(): Promise<void> {
    for await (const { key, value } of readRows(this.#check, tallyTable)) {
      if (value === undefined || (await this.#counts(key, value.last))) continue;
      this.#check.report.problem(tallyTable.name, key, 'belongs to no record');
    }
  }

  async #counts(key: string, id: RecordId): Promise<boolean> {
    const { store, own } = this.#check;
    const record = await recordOfId(store, id);
    if (record === undefined || record.node !== own || !this.#end.isCounted(record)) return false;
    const { account, sourceId, submittedAt } = record;
    const facet = facetText(record);
    return [ALL_SOURCES, sourceKey(sourceId)].some((source) =>
      [facet, coarseFacetText(facet)].some((text) => tallyTable.key(account, source, dayOf(submittedAt), text) === key),
    );
  }
}
