import { earliestDue } from '../../../protocol/compliance/incident-clocks.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import type { ApiKeys } from '../../accounts/api-keys.ts';
import { type Caller, covers, isWhole, reaches } from '../../accounts/caller.ts';
import { isEnding } from '../../accounts/ending-keys.ts';
import type { DueReviews } from '../../governance/due-reviews.ts';
import type { IncidentPlace, Incidents } from '../../governance/incidents.ts';
import { lockEnds } from '../../governance/lock-ends.ts';
import type { Locks } from '../../governance/locks.ts';
import type { Store } from '../../store/store.ts';
import { placeAt } from '../incident-place.ts';
import type { Due } from './calendar-file.ts';

const DAY_MS = 86_400_000;
/** What ended longer ago is in no calendar any more. In milliseconds. */
const PAST_MS = 30 * DAY_MS;
const PAGE = 100;
/** Pages that are looked at for the incidents of a key, which sees few of them where it is limited to a source. */
const MAX_PAGES = 100;
/** Of those to come, and of those that are past. */
const MAX_INCIDENTS = 500;
/** Reviews of the account that are looked at, and those that are shown. */
const MAX_REVIEWS_LOOKED_AT = 10_000;
const MAX_REVIEWS = 1_000;
/** Scopes of sources whose locks are looked at. */
const MAX_LOCK_SCOPES = 1_000;

export interface DueCalendarOptions {
  readonly store: Store;
  readonly node: NodeId;
  readonly incidents: Pick<Incidents, 'page'>;
  readonly dueReviews: Pick<DueReviews, 'between'>;
  readonly keys: Pick<ApiKeys, 'list'>;
  readonly locks: Pick<Locks, 'elsewhere'>;
  readonly now: () => number;
}

/** What is due of an account, as a file of RFC 5545. */
export class DueCalendar {
  readonly #options: DueCalendarOptions;

  constructor(options: DueCalendarOptions) {
    this.#options = options;
  }

  /** As much of it as the caller sees: the first clocks of incidents, reviews, ends of keys and of locks. No text, no person. */
  async textFor(caller: Caller): Promise<string> {
    // Loaded when the first calendar is asked for: no start waits for it.
    const { calendarFile } = await import('./calendar-file.ts');
    const due = [
      ...(await this.#incidents(caller)),
      ...(await this.#reviews(caller)),
      ...(caller.key.scopes.includes('keys:admin') ? await this.#keys(caller) : []),
      ...(isWhole(caller.key) ? await this.#locks(caller) : []),
    ];
    return calendarFile(this.#options.node, due);
  }

  /** Those to come first: however many are past, they leave none of these out. */
  async #incidents(caller: Caller): Promise<Due[]> {
    const at = this.#options.now();
    const coming = await this.#incidentsBetween(caller, at, Infinity);
    return [...coming, ...(await this.#incidentsBetween(caller, at - PAST_MS, at))];
  }

  /** One event an incident: notified or corrected, it is cancelled, so that programs which have it take it away. */
  async #incidentsBetween({ account, key }: Caller, from: number, to: number): Promise<Due[]> {
    const due: Due[] = [];
    const { incidents, now } = this.#options;
    let after: IncidentPlace | undefined = placeAt(from);
    for (let pages = 0; pages < MAX_PAGES && due.length < MAX_INCIDENTS && after !== undefined; pages++) {
      const page = await incidents.page(account.id, {
        state: undefined,
        accepts: ({ sourceId, submittedAt }) => reaches(key, sourceId) && covers(key, submittedAt),
        after,
        limit: PAGE,
        now: now(),
      });
      for (const { record, state } of page.incidents) {
        const { dueAt, ref } = earliestDue(record);
        if (Date.parse(dueAt) >= to) return due;
        const id = objectId('incident', record.id);
        const isRunning = state === 'open' || state === 'due-soon' || state === 'overdue';
        due.push({
          id,
          at: Date.parse(dueAt),
          stamp: Date.parse(record.submittedAt),
          // What it becomes is a later version of the same event.
          sequence: isRunning ? 0 : 1,
          isCancelled: !isRunning,
          summary: `Incident ${id}: the clock ${ref} ends`,
        });
      }
      after = page.next;
    }
    return due;
  }

  /** One that was made is gone from it. */
  async #reviews({ account, key }: Caller): Promise<Due[]> {
    const due: Due[] = [];
    const { dueReviews, now } = this.#options;
    const period = { from: now() - PAST_MS, to: Number.MAX_SAFE_INTEGER, limit: MAX_REVIEWS_LOOKED_AT };
    for await (const { record, dueAt } of dueReviews.between(account.id, period)) {
      const { id, kind, sourceId, submittedAt } = record;
      if (!reaches(key, sourceId) || !covers(key, submittedAt)) continue;
      if (due.length >= MAX_REVIEWS) break;
      due.push({
        id: `${id}-review`,
        at: Date.parse(dueAt),
        stamp: Date.parse(submittedAt),
        sequence: 0,
        isCancelled: false,
        summary: `The ${kind} ${id} is to be looked at again`,
      });
    }
    return due;
  }

  async #keys({ account }: Caller): Promise<Due[]> {
    const due: Due[] = [];
    const { keys, now } = this.#options;
    for (const one of await keys.list(account.id)) {
      if (one.expiresAt === null || !isEnding(one, now(), Infinity)) continue;
      const at = Date.parse(one.expiresAt);
      const stamp = Date.parse(one.createdAt);
      due.push({ id: one.id, at, stamp, sequence: 0, isCancelled: false, summary: `The API key ${one.id} ends` });
    }
    return due;
  }

  async #locks({ account }: Caller): Promise<Due[]> {
    const due: Due[] = [];
    const { now } = this.#options;
    const seen = new Set<string>();
    const period = { after: now(), before: Number.MAX_SAFE_INTEGER, limit: MAX_LOCK_SCOPES };
    for await (const { lock, at } of lockEnds(this.#options, account.id, period)) {
      if (seen.has(lock)) continue;
      seen.add(lock);
      due.push({
        id: lock,
        at,
        stamp: at,
        sequence: 0,
        isCancelled: false,
        summary: `The retention lock ${lock} ends`,
      });
    }
    return due;
  }
}
