import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { assertionSubject } from '../../protocol/frameworks/assertion-subject.ts';
import { isOfTest } from '../../protocol/frameworks/record-view.ts';
import { recordId } from '../../protocol/ids.ts';
import type { Timestamp } from '../../protocol/time.ts';
import type { Projection } from '../records/projection.ts';
import { readRecord } from '../records/record-reader.ts';
import type { Reads } from '../store/store.ts';
import { Table, textCodec } from '../store/table.ts';
import type { GovernanceRecords } from './governance-records.ts';
import { governanceTable, type IndexedKind } from './governance-tables.ts';
import { type RecordedSince, recordedSince } from './recorded-since.ts';

/** Assertions of an account that are looked at for newer ones, the newest first. */
const MAX_ASSERTIONS = 5_000;
/** Kinds whose records may say when they are to be looked at again. */
const REVIEWED_KINDS = [
  'risk_assessment',
  'system',
  'document',
  'supplier',
  'not_applicable',
] as const satisfies readonly IndexedKind[];

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

export interface LateReviews extends RecordedSince {
  /** Before when they were due, in epoch milliseconds. */
  readonly dueBefore: number;
}

/** What accounts said they would look at again: assessments, systems, documents, suppliers, what does not apply. */
export class DueReviews {
  readonly #store: Reads;
  readonly #records: Pick<GovernanceRecords, 'supersededBy'>;

  constructor(store: Reads, records: Pick<GovernanceRecords, 'supersededBy'>) {
    this.#store = store;
    this.#records = records;
  }

  /** Those of a period, the soonest first. */
  between(account: string, period: ReviewPeriod): AsyncGenerator<DueReview> {
    return this.#standing(account, this.#dueIn(account, period));
  }

  /** Those recorded from a time on that were due before another, kind by kind, the newest of each first. */
  recordedLate(account: string, asked: LateReviews): AsyncGenerator<DueReview> {
    return this.#standing(account, this.#late(account, asked));
  }

  async *#dueIn(account: string, { from, to, limit }: ReviewPeriod): AsyncGenerator<DueReview> {
    const rows = reviewDueTable.under(this.#store, [account], { from: Math.max(0, from), before: to, limit });
    for await (const [, id] of rows) {
      const record = (await readRecord(this.#store, recordId(id)))?.record;
      const dueAt = record && reviewDueOf(record);
      if (record !== undefined && dueAt !== undefined) yield { record, dueAt };
    }
  }

  async *#late(account: string, asked: LateReviews): AsyncGenerator<DueReview> {
    for (const kind of REVIEWED_KINDS) {
      for await (const record of recordedSince(this.#store, account, kind, asked)) {
        const dueAt = reviewDueOf(record);
        if (dueAt !== undefined && Date.parse(dueAt) < asked.dueBefore) yield { record, dueAt };
      }
    }
  }

  /**
   * Without those that were looked at: what a newer record supersedes, and an assertion of the event `NOT_APPLICABLE` after
   * which another one about the same was made.
   */
  async *#standing(account: string, reviews: AsyncIterable<DueReview>): AsyncGenerator<DueReview> {
    let newest: ReadonlyMap<string, number> | undefined;
    for await (const { record, dueAt } of reviews) {
      if ((await this.#records.supersededBy(record)) !== undefined) continue;
      const subject = subjectOf(record);
      if (subject !== undefined) {
        newest ??= await this.#newestAssertions(account);
        if ((newest.get(subject) ?? 0) > record.seq) continue;
      }
      yield { record, dueAt };
    }
  }

  /** What an account asserts not to apply → seq of the newest record that says so. */
  async #newestAssertions(account: string): Promise<ReadonlyMap<string, number>> {
    const newest = new Map<string, number>();
    const terms = { reverse: true, limit: MAX_ASSERTIONS };
    for await (const [, id] of governanceTable.under(this.#store, [account, 'not_applicable'], terms)) {
      const record = (await readRecord(this.#store, recordId(id)))?.record;
      if (record === undefined) continue;
      const subject = subjectOf(record);
      if (subject !== undefined && !newest.has(subject)) newest.set(subject, record.seq);
    }
    return newest;
  }
}

function reviewDueOf({ claims: { asserted } }: AttestationRecord): Timestamp | undefined {
  return asserted?.reviewDueAt ?? asserted?.nextReviewAt;
}

/** An assertion of a test stands in the place of none that counts. */
function subjectOf(record: AttestationRecord): string | undefined {
  const subject = assertionSubject(record);
  return subject === undefined ? undefined : `${isOfTest(record) ? 'test' : 'production'} ${subject}`;
}
