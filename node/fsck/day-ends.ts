import { type AuditDay as UtcDay, dayOf } from '../../protocol/audit/day.ts';
import { readTimeSteps } from '../records/time-steps.ts';
import type { Check } from './check.ts';

interface DayAhead {
  readonly seq: number;
  /** The earliest day that this step or a later one leads to. */
  readonly day: UtcDay;
}

/**
 * On which days own records can still fall, on a walk along them: on none before that of the record that it has come to,
 * but where their times go back later.
 */
export class DayEnds {
  readonly #ahead: DayAhead[];

  private constructor(ahead: DayAhead[]) {
    this.#ahead = ahead;
  }

  /** By the rows that note where times go back. One that does not read is reported by the walk along them. */
  static async read({ own, store }: Pick<Check, 'own' | 'store'>): Promise<DayEnds> {
    const steps = own === null ? [] : await readTimeSteps(store, own).catch(() => []);
    const ahead: DayAhead[] = [];
    let earliest: UtcDay | undefined;
    for (const { seq, after } of steps.toReversed()) {
      const day = dayOf(after);
      if (earliest === undefined || day < earliest) earliest = day;
      ahead.unshift({ seq, day: earliest });
    }
    return new DayEnds(ahead);
  }

  /** Of some days those that no record falls on from this one on, which is of `current`. Asked in order of seq. */
  *over(days: Iterable<UtcDay>, seq: number, current: UtcDay): Generator<UtcDay> {
    while (this.#ahead[0] !== undefined && this.#ahead[0].seq <= seq) this.#ahead.shift();
    const day = this.#ahead[0]?.day;
    const earliest = day !== undefined && day < current ? day : current;
    for (const one of days) if (one < earliest) yield one;
  }
}
