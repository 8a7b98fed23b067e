import { type AuditDay, dayEnd } from '../../../protocol/audit/day.ts';
import type { Rows } from '../../store/store.ts';
import type { Table } from '../../store/table.ts';

/** How far after the closed days a line may be dated by a clock that is not known to be right. In milliseconds. */
export const UNSURE_MS = 7 * 86_400_000;
/** The one row of a table of closed days. */
export const CLOSED_ROW = 'day';

export interface ClosedDaysOptions {
  readonly store: Rows;
  /** Under `CLOSED_ROW` the last closed day. */
  readonly table: Table<AuditDay>;
  readonly now: () => number;
  /** Whether the clock is known to be right. */
  readonly isClockRight: () => boolean;
}

/**
 * The days of an append-only log that no line is written to any more, as their heads stand; and the time of a line that
 * is written now.
 *
 * Ownership: the log moves it, one write at a time, so that no line is dated by a day that is being closed.
 */
export class ClosedDays {
  readonly #options: ClosedDaysOptions;
  #through: AuditDay | null;

  private constructor(options: ClosedDaysOptions, through: AuditDay | null) {
    this.#options = options;
    this.#through = through;
  }

  static async open(options: ClosedDaysOptions): Promise<ClosedDays> {
    return new ClosedDays(options, (await options.table.get(options.store, CLOSED_ROW)) ?? null);
  }

  /** The last closed day; null before the first. */
  get through(): AuditDay | null {
    return this.#through;
  }

  /** No line is written with an earlier time. In epoch milliseconds; 0 before the first closed day. */
  get end(): number {
    return this.#through === null ? 0 : dayEnd(this.#through);
  }

  /** Whether the day is one of them. */
  has(day: AuditDay): boolean {
    return this.#through !== null && day <= this.#through;
  }

  /** Closes the days up to this one. Throws `StoreError`. */
  async closeThrough(day: AuditDay): Promise<void> {
    if (!this.has(day)) await this.#move(day);
  }

  /** Takes back that days after this one are closed. Throws `StoreError`. */
  async reopenAfter(day: AuditDay): Promise<void> {
    if (this.#through !== null && day < this.#through) await this.#move(day);
  }

  /**
   * The time of a line that is written now, in epoch milliseconds. No line is dated before the one before it, so a clock
   * that is years ahead would date all later ones: of one that is not known to be right a time long after the closed days
   * is not taken, and the line is dated as early as it may be.
   */
  lineTime(): number {
    const { now, isClockRight } = this.#options;
    const [at, { end }] = [now(), this];
    if (at <= end) return end;
    return end === 0 || at <= end + UNSURE_MS || isClockRight() ? at : end;
  }

  async #move(day: AuditDay): Promise<void> {
    const { store, table } = this.#options;
    await store.write([table.put([CLOSED_ROW], day)]);
    this.#through = day;
  }
}
