import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { recordId } from '../../protocol/ids.ts';
import type { Timestamp } from '../../protocol/time.ts';
import type { Projection } from '../records/projection.ts';
import { readRecord } from '../records/record-reader.ts';
import type { Reads } from '../store/store.ts';
import { Table, textCodec } from '../store/table.ts';
import type { GovernanceRecords } from './governance-records.ts';

/** (account, when it is to be looked at again in epoch milliseconds, seq) → own record that says so. */
export const reviewDueTable = new Table('review-due', textCodec);

export const REVIEW_PROJECTION: Projection = {
  table: reviewDueTable,
  rowsOf(record) {
    const due = reviewDueOf(record);
    // Keys hold no negative numbers: what was due before 1970 comes first of all.
    return due === undefined
      ? []
      : [reviewDueTable.put([record.account, Math.max(0, Date.parse(due)), record.seq], record.id)];
  },
};

/** A record that is to be looked at again. */
export interface DueReview {
  readonly record: AttestationRecord;
  readonly dueAt: Timestamp;
}

export interface ReviewPeriod {
  /** Epoch milliseconds; `from` is included, `to` is not. */
  readonly from: number;
  readonly to: number;
  /** Rows that are looked at. */
  readonly limit: number;
}

/** What accounts said they would look at again: assessments, systems, documents, suppliers, what does not apply. */
export class DueReviews {
  readonly #store: Reads;
  readonly #records: Pick<GovernanceRecords, 'supersededBy'>;

  constructor(store: Reads, records: Pick<GovernanceRecords, 'supersededBy'>) {
    this.#store = store;
    this.#records = records;
  }

  /** Those of a period, the soonest first. What a newer record supersedes was looked at. */
  async *between(account: string, { from, to, limit }: ReviewPeriod): AsyncGenerator<DueReview> {
    const rows = reviewDueTable.under(this.#store, [account], { from: Math.max(0, from), before: to, limit });
    for await (const [, id] of rows) {
      const record = (await readRecord(this.#store, recordId(id)))?.record;
      const dueAt = record && reviewDueOf(record);
      if (record === undefined || dueAt === undefined) continue;
      if ((await this.#records.supersededBy(record)) === undefined) yield { record, dueAt };
    }
  }
}

function reviewDueOf({ claims: { asserted } }: AttestationRecord): Timestamp | undefined {
  return asserted?.reviewDueAt ?? asserted?.nextReviewAt;
}
