import type { Static } from 'typebox';
import { Closed, CountShape } from '../../../protocol/shapes.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { jsonTable } from '../../store/table.ts';

/** What anchoring may cost. Over a limit, anchors wait for the next window; none is lost. */
export interface SpendLimits {
  readonly transactionsPerHour: number;
  readonly transactionsPerDay: number;
  readonly tinybarsPerDay: number;
  /** What one anchor is reckoned at, in tinybars. A submit costs $0.0008, or $0.0009 with a submit key of its own. */
  readonly feeTinybars: number;
}

/** A batch every five seconds and a quarter more; 300 hbar a day. */
const DEFAULT_SPEND_LIMITS: SpendLimits = {
  transactionsPerHour: 900,
  transactionsPerDay: 20_000,
  tinybarsPerDay: 30_000_000_000,
  feeTinybars: 1_500_000,
};

/** Spent so far in the windows of UTC in force, and what the limits are. */
export interface SpendState {
  readonly hour: { readonly transactions: number };
  readonly day: { readonly transactions: number; readonly tinybars: number };
  readonly limits: SpendLimits;
}

export interface Grant {
  readonly kind: 'granted';
  readonly spent: Spent;
  /** To be written with what the grant is for. */
  readonly record: Operation;
}

export type Admission =
  | Grant
  /** Epoch milliseconds at which the window that is used up ends. */
  | { readonly kind: 'waits'; readonly until: number; readonly limit: 'hour' | 'day' | 'tinybars' };

const HOUR_MS = 3_600_000;
const HOURS_A_DAY = 24;
const DAY_MS = HOURS_A_DAY * HOUR_MS;

const SpentShape = Closed({
  hour: CountShape,
  inHour: CountShape,
  day: CountShape,
  inDay: CountShape,
  tinybars: CountShape,
});
type Spent = Static<typeof SpentShape>;

/** What is paid for → what was spent on it in the windows in force. */
export const spendTable = jsonTable('spend', SpentShape);
export const SPEND_ROW = 'anchoring';
const NOTHING: Spent = { hour: 0, inHour: 0, day: 0, inDay: 0, tinybars: 0 };

/**
 * Counts the transactions that were prepared: each can cost its fee once, whether or not it reached the ledger. A grant
 * is on the disk with the frozen bytes that it is for, in one write, so no crash makes a transaction free.
 *
 * Ownership: one caller at a time, which writes and commits each grant, or drops it, before it asks again.
 */
export class SpendGuard {
  readonly limits: SpendLimits;
  readonly #row: string;
  #spent: Spent;

  private constructor(limits: SpendLimits, row: string, spent: Spent) {
    this.limits = limits;
    this.#row = row;
    this.#spent = spent;
  }

  /** `row`: what is paid for. Each row has windows of its own. */
  static async open(store: Store, limits: Partial<SpendLimits> = {}, row = SPEND_ROW): Promise<SpendGuard> {
    const spent = (await spendTable.get(store, row)) ?? NOTHING;
    return new SpendGuard({ ...DEFAULT_SPEND_LIMITS, ...limits }, row, spent);
  }

  /**
   * Asks for one transaction, at a time in epoch milliseconds. Counts nothing yet. A clock that goes back stays in the
   * later window; where that lies more than a day ahead, the clock was wrong then, and counting begins anew.
   */
  admit(now: number): Admission {
    const spent = this.#at(now);
    const { transactionsPerHour, transactionsPerDay, tinybarsPerDay, feeTinybars } = this.limits;
    const dayEnds = (spent.day + 1) * DAY_MS;
    if (spent.inDay >= transactionsPerDay) return { kind: 'waits', until: dayEnds, limit: 'day' };
    if (spent.tinybars + feeTinybars > tinybarsPerDay) return { kind: 'waits', until: dayEnds, limit: 'tinybars' };
    if (spent.inHour >= transactionsPerHour) return { kind: 'waits', until: (spent.hour + 1) * HOUR_MS, limit: 'hour' };
    const next = {
      ...spent,
      inHour: spent.inHour + 1,
      inDay: spent.inDay + 1,
      tinybars: spent.tinybars + feeTinybars,
    };
    return { kind: 'granted', spent: next, record: spendTable.put([this.#row], next) };
  }

  /** Counts a grant whose record is on the disk. */
  commit({ spent }: Grant): void {
    this.#spent = spent;
  }

  state(now: number): SpendState {
    const { inHour, inDay, tinybars } = this.#at(now);
    return { hour: { transactions: inHour }, day: { transactions: inDay, tinybars }, limits: this.limits };
  }

  #at(now: number): Spent {
    const [hourNow, dayNow] = [Math.floor(now / HOUR_MS), Math.floor(now / DAY_MS)];
    const { hour: counted } = this.#spent;
    if (counted > hourNow + HOURS_A_DAY) return { ...NOTHING, hour: hourNow, day: dayNow };
    const hour = Math.max(counted, hourNow);
    const day = Math.max(this.#spent.day, dayNow);
    return {
      hour,
      inHour: hour === counted ? this.#spent.inHour : 0,
      day,
      inDay: day === this.#spent.day ? this.#spent.inDay : 0,
      tinybars: day === this.#spent.day ? this.#spent.tinybars : 0,
    };
  }
}
