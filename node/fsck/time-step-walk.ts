import { equalBytes } from '../../protocol/bytes.ts';
import type { Timestamp } from '../../protocol/time.ts';
import { timeStepOperations, timeStepTable } from '../records/time-steps.ts';
import type { Check } from './check.ts';
import type { RecordFacts } from './record-facts.ts';
import { readRows } from './rows.ts';

export const TIME_STEP_TABLES = [timeStepTable];

/** The rows that note where the time of the own records goes back, compared with the records. */
export class TimeStepWalk {
  readonly #check: Check;
  #last: Timestamp | undefined;
  /** Keys of the rows that there must be. */
  readonly #keys = new Set<string>();

  constructor(check: Check) {
    this.#check = check;
  }

  async take(records: readonly RecordFacts[]): Promise<void> {
    const { own, store, report } = this.#check;
    for (const { seq, shared } of records) {
      const last = this.#last;
      this.#last = shared.submittedAt;
      if (own === null || last === undefined) continue;
      for (const row of timeStepOperations(own, seq, last, shared.submittedAt)) {
        this.#keys.add(row.key);
        const stored = await store.get(row.key);
        if (stored === undefined) report.problem(timeStepTable.name, row.key, 'is missing');
        else if (row.type === 'put' && !equalBytes(stored, row.value)) {
          report.problem(timeStepTable.name, row.key, 'does not hold the times of its records');
        }
      }
    }
  }

  /** After the last record. */
  async finish(): Promise<void> {
    for await (const { key } of readRows(this.#check, timeStepTable)) {
      if (!this.#keys.has(key)) this.#check.report.problem(timeStepTable.name, key, 'belongs to no record');
    }
  }
}
