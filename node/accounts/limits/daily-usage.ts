import { dayEnd } from '../../../protocol/audit/day.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { groupStatement } from '../../../protocol/statement/group.ts';
import { Held } from '../../concurrency/held.ts';
import { steadyTime } from '../../intake/record-time.ts';
import { countEndOperation } from '../../records/count-end.ts';
import type { RecordCounter } from '../../records/record-counters.ts';
import { groupTable } from '../../records/record-tables.ts';
import { markAllCounted, recount } from '../../records/recount.ts';
import { RowPace, type StagedRows } from '../../records/row-pace.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { TIER_LIMITS } from './allowances.ts';
import type { LimitedAccount } from './rate-limits.ts';
import {
  COUNTED_USAGE,
  dayAt,
  hasUsage,
  recordsOfMonth,
  usageEndTable,
  usageTable,
  type UtcDay,
} from './usage-table.ts';
import { type TalliedDay, tallyUsage } from './usage-tally.ts';

/** One row as memory holds it: a count, or the reading of it that is under way. */
interface Cell {
  records: number | undefined;
  reading: Promise<void> | undefined;
}

/** Rows kept in memory: an account has one a day. Those that were put off are kept beyond it. */
const MAX_CELLS = 20_000;

/**
 * Counts of the records on the disk, cached. A cell that is being read is never dropped, so a count that was set
 * meanwhile is not overwritten by an older one that the reading brings; nor is one whose row on the disk counts fewer
 * records.
 */
export class UsageCounts {
  readonly #store: Store;
  readonly #maxCells: number;
  #cells = new Map<string, Cell>();
  /** Counts whose rows were put off. */
  readonly #unwritten = new Map<string, TalliedDay>();

  constructor(store: Store, maxCells = MAX_CELLS) {
    this.#store = store;
    this.#maxCells = maxCells;
  }

  /** Undefined where memory has not got it. */
  get(account: string, day: UtcDay): number | undefined {
    return this.#cells.get(usageTable.key(account, day))?.records;
  }

  /** After it, `get` knows the count, unless other accounts have pushed it out at once. Throws `StoreError`. */
  async read(account: string, day: UtcDay): Promise<void> {
    const key = usageTable.key(account, day);
    let cell = this.#cells.get(key);
    if (cell === undefined) {
      cell = { records: undefined, reading: undefined };
      this.#put(key, cell);
    }
    if (cell.records !== undefined) return;
    cell.reading ??= this.#fill(cell, account, day);
    await cell.reading;
  }

  /** Counts whose rows on the disk count fewer records, under their keys. */
  get unwritten(): ReadonlyMap<string, TalliedDay> {
    return this.#unwritten;
  }

  /** To be called once the records are on the disk. `isWritten`: and the row. */
  set(key: string, counted: TalliedDay, isWritten: boolean): void {
    const { records } = counted;
    if (isWritten) this.#unwritten.delete(key);
    else this.#unwritten.set(key, counted);
    const cell = this.#cells.get(key);
    if (cell === undefined) this.#put(key, { records, reading: undefined });
    else cell.records = records;
  }

  forget(): void {
    this.#cells = new Map();
    this.#unwritten.clear();
  }

  async #fill(cell: Cell, account: string, day: UtcDay): Promise<void> {
    try {
      const stored = (await usageTable.get(this.#store, account, day)) ?? 0;
      cell.records ??= stored;
    } finally {
      cell.reading = undefined;
    }
  }

  #put(key: string, cell: Cell): void {
    this.#cells.set(key, cell);
    for (const [oldest, { reading }] of this.#cells) {
      if (this.#cells.size <= this.#maxCells) return;
      if (reading === undefined && oldest !== key && !this.#unwritten.has(oldest)) this.#cells.delete(oldest);
    }
  }
}

const DAY_MS = 86_400_000;

/** Where an account stands with its daily cap. */
export interface DailyStanding {
  readonly limit: number;
  readonly remaining: number;
}

/** Room for records of a call that is under way. Released once the call is over, however it ended. */
export interface DailyReservation {
  /** As far as memory knows it; null where the tier has no cap. */
  standing(): DailyStanding | null;
  /** A second call does nothing. */
  release(): void;
}

export type DailyDecision =
  | { readonly kind: 'reserved'; readonly reservation: DailyReservation }
  | { readonly kind: 'refused'; readonly standing: DailyStanding; readonly retryAfterSeconds: number };

export interface UsageFigures {
  readonly day: UtcDay;
  /** Records on the disk. */
  readonly recordsToday: number;
  readonly recordsThisMonth: number;
  /** Null where the tier has no cap. */
  readonly limit: number | null;
  readonly remaining: number | null;
}

export interface DailyUsageOptions {
  readonly store: Store;
  /** Whose records are counted. */
  readonly node: NodeId;
  /** Clock of the records, in epoch milliseconds. */
  readonly now: () => number;
  /** Rows kept in memory. */
  readonly maxCachedRows?: number;
  readonly pace?: RowPace;
}

/** The write under way. */
interface Staged {
  readonly counts: ReadonlyMap<string, TalliedDay>;
  readonly rows: StagedRows;
}

/**
 * Records a day of each account, and the cap of its tier. What is on the disk counts from memory, whose rows are put
 * off as `RowPace` says and counted again from the records after a crash. A call that is under way holds room in
 * memory, so that calls side by side never pass the cap together. What it held becomes part of the count when its
 * records are on the disk, and is let go of by the call: in between both count, which errs on the safe side.
 *
 * Ownership: `load`, `operations` and `committed` are called for one write after another.
 */
export class DailyUsage implements RecordCounter {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #node: NodeId;
  readonly #pace: RowPace;
  readonly #counts: UsageCounts;
  readonly #reserved = new Map<string, number>();
  /** Of the write under way: counts before it, by the keys of their rows. */
  #loaded = new Map<string, number>();
  #staged: Staged | undefined;
  /** Time of the last record, in epoch milliseconds; 0 before the first. */
  #lastAt: number;
  /** Days since the epoch of `#today`. */
  #dayNumber = Number.NaN;
  #today: UtcDay;

  private constructor({ store, node, now, maxCachedRows, pace = new RowPace() }: DailyUsageOptions, lastAt: number) {
    this.#store = store;
    this.#node = node;
    this.#now = now;
    this.#pace = pace;
    this.#counts = new UsageCounts(store, maxCachedRows);
    this.#lastAt = lastAt;
    this.#today = dayAt(now());
  }

  /** Counts what the store has uncounted: all of it, where it was written before there were counts. */
  static async open(options: DailyUsageOptions): Promise<DailyUsage> {
    const { store, node } = options;
    const usage = new DailyUsage(options, await lastRecordedAt(store, node));
    const isUnmarked = (await store.get(usageEndTable.key(node))) === undefined;
    if (isUnmarked && (await hasUsage(store))) await markAllCounted(store, node, COUNTED_USAGE);
    else await recount(store, node, COUNTED_USAGE, usage);
    return usage;
  }

  /** Asks for room for the records of one call. Throws `StoreError` where the count cannot be read. */
  async reserve({ id, tier }: LimitedAccount, records = 1): Promise<DailyDecision> {
    const { recordsPerDay: limit } = TIER_LIMITS[tier];
    if (limit === null) return this.#hold(id, records, limit);
    return this.#withToday(id, (used, day) => {
      const remaining = this.#freeOf(id, used, limit);
      if (records <= remaining) return this.#hold(id, records, limit);
      const retryAfterSeconds = Math.max(1, Math.ceil((dayEnd(day) - this.#now()) / 1000));
      return { kind: 'refused', standing: { limit, remaining }, retryAfterSeconds };
    });
  }

  /** Null where the tier has no cap. Throws `StoreError` where the count cannot be read. */
  async standing({ id, tier }: LimitedAccount): Promise<DailyStanding | null> {
    const { recordsPerDay: limit } = TIER_LIMITS[tier];
    if (limit === null) return null;
    return this.#withToday(id, (used) => ({ limit, remaining: this.#freeOf(id, used, limit) }));
  }

  /** Throws `StoreError` where the rows cannot be read. */
  async figures(account: LimitedAccount): Promise<UsageFigures> {
    const { day, recordsToday } = await this.#withToday(account.id, (used, at) => ({ day: at, recordsToday: used }));
    const standing = await this.standing(account);
    const unwritten = this.#counts.unwritten.values().filter((counted) => counted.account === account.id);
    const days = new Map(unwritten.map((counted) => [counted.day, counted.records]));
    return {
      day,
      recordsToday,
      recordsThisMonth: await recordsOfMonth(this.#store, account.id, day, days),
      limit: standing?.limit ?? null,
      remaining: standing?.remaining ?? null,
    };
  }

  /** Records of each of the last days, today the last. Throws `StoreError` where the rows cannot be read. */
  async days(account: string, count: number): Promise<readonly { readonly day: UtcDay; readonly records: number }[]> {
    const days: { day: UtcDay; records: number }[] = [];
    for (let before = count - 1; before >= 0; before--) {
      const day = dayAt(this.#now() - before * DAY_MS);
      const records = this.#counts.get(account, day) ?? (await usageTable.get(this.#store, account, day)) ?? 0;
      days.push({ day, records });
    }
    return days;
  }

  /** Counts that memory has not got are read past it: until `committed`, nobody knows what the disk has of them. */
  async load(records: readonly AttestationRecord[]): Promise<void> {
    const loaded = new Map<string, number>();
    for (const [key, { account, day }] of tallyUsage(records)) {
      const count = this.#counts.get(account, day) ?? (await usageTable.get(this.#store, account, day)) ?? 0;
      loaded.set(key, count);
    }
    this.#loaded = loaded;
  }

  operations(records: readonly AttestationRecord[], writesAll = false): [Operation[]] {
    const counts = tallyUsage(records);
    for (const [key, counted] of counts) {
      const before = this.#loaded.get(key);
      if (before === undefined) throw new RangeError('records that were not loaded');
      counted.records += before;
    }
    const last = records.at(-1);
    if (last !== undefined) this.#lastAt = Date.parse(last.submittedAt);
    const staged = this.#pace.stage(records, writesAll);
    this.#staged = { counts, rows: staged };
    if (!staged.withRows) return [[]];
    const all = [...new Map([...this.#counts.unwritten, ...counts]).values()];
    if (records.length === 0 && all.length === 0) return [[]];
    const rows = all.map(({ account, day, records: count }) => usageTable.put([account, day], count));
    return [[...rows, countEndOperation(COUNTED_USAGE, this.#node, staged.next)]];
  }

  committed(): void {
    if (this.#staged === undefined) return;
    const { counts, rows } = this.#staged;
    const moved = rows.withRows ? new Map([...this.#counts.unwritten, ...counts]) : counts;
    for (const [key, counted] of moved) this.#counts.set(key, counted, rows.withRows);
    this.#pace.committed(rows);
    this.#staged = undefined;
  }

  forget(): void {
    this.#counts.forget();
    this.#loaded = new Map();
    this.#staged = undefined;
  }

  /** Decides in one turn with today's count: no other request comes between the count and what follows from it. */
  async #withToday<Result>(account: string, decide: (used: number, day: UtcDay) => Result): Promise<Result> {
    for (;;) {
      const day = this.#day();
      const used = this.#counts.get(account, day);
      if (used !== undefined) return decide(used, day);
      await this.#counts.read(account, day);
    }
  }

  #freeOf(account: string, used: number, limit: number): number {
    return Math.max(0, limit - used - (this.#reserved.get(account) ?? 0));
  }

  #hold(account: string, records: number, limit: number | null): DailyDecision {
    this.#moveReserved(account, records);
    const held = new Held(() => this.#moveReserved(account, -records));
    const standing = (): DailyStanding | null => {
      const used = this.#counts.get(account, this.#day()) ?? 0;
      return limit === null ? null : { limit, remaining: this.#freeOf(account, used, limit) };
    };
    return { kind: 'reserved', reservation: { standing, release: () => held[Symbol.dispose]() } };
  }

  #moveReserved(account: string, records: number): void {
    const held = (this.#reserved.get(account) ?? 0) + records;
    if (held > 0) this.#reserved.set(account, held);
    else this.#reserved.delete(account);
  }

  /** The day that a record would be of which is made now. */
  #day(): UtcDay {
    const dayNumber = Math.floor(steadyTime(this.#now(), this.#lastAt) / DAY_MS);
    if (dayNumber !== this.#dayNumber) {
      this.#dayNumber = dayNumber;
      this.#today = dayAt(dayNumber * DAY_MS);
    }
    return this.#today;
  }
}

/** Time of the last group that the node signed, in epoch milliseconds; 0 where there is none. */
async function lastRecordedAt(store: Store, node: NodeId): Promise<number> {
  const last = await groupTable.last(store, [node]);
  return last === undefined ? 0 : Date.parse(groupStatement.parse(last[1].statement).signedAt);
}
