import { earliestDue } from '../../protocol/compliance/incident-clocks.ts';
import { clockStartOf } from '../../protocol/compliance/notification-clock.ts';
import { objectId } from '../../protocol/object-ids.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { ApiKeys } from '../accounts/api-keys.ts';
import { isEnding } from '../accounts/ending-keys.ts';
import type { Equivocations } from '../federation/equivocations.ts';
import type { DueReview, DueReviews } from '../governance/due-reviews.ts';
import type { IncidentPlace, Incidents, TrackedIncident } from '../governance/incidents.ts';
import { lockEnds } from '../governance/lock-ends.ts';
import type { Locks } from '../governance/locks.ts';
import type { Lists } from '../screening/lists/contract.ts';
import type { Store } from '../store/store.ts';
import type { Alerts } from './alerts.ts';
import { placeAt } from './incident-place.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/**
 * Incidents of one account that a look goes through by their clocks, and by when they were recorded; how many at a
 * time.
 */
const MAX_INCIDENTS = 1_000;
const PAGE = 100;
/**
 * How long after its end a clock that was missed, or a record of an end that was past, is still told of. In
 * milliseconds.
 */
const LATE_MS = 7 * DAY_MS;
/** Before the end of a key, and of a lock. In milliseconds. */
const KEY_ENDS_MS = 7 * DAY_MS;
const LOCK_ENDS_MS = 30 * DAY_MS;
/** Before the day that a review is due. In milliseconds. */
const REVIEW_DUE_MS = 30 * DAY_MS;
/** Reviews of one account that a look goes through by their days, and records of each kind by when they were made. */
const MAX_REVIEWS = 1_000;
/** Scopes of sources of one account whose locks a look goes through. */
const MAX_LOCK_SCOPES = 10_000;

export interface DueAlertsOptions {
  readonly store: Store;
  readonly alerts: Pick<Alerts, 'listeners' | 'tell' | 'tellState'>;
  readonly incidents: Pick<Incidents, 'page' | 'recordedLate'>;
  readonly dueReviews: Pick<DueReviews, 'between' | 'recordedLate'>;
  readonly keys: Pick<ApiKeys, 'list'>;
  readonly locks: Pick<Locks, 'elsewhere'>;
  readonly lists: Pick<Lists, 'current'>;
  readonly equivocations: Pick<Equivocations, 'all'>;
  readonly now: () => number;
  /** Whether most members have the time that this node has: nothing is due by another clock. */
  readonly isClockRight: () => boolean;
}

/**
 * Finds what is due, or was found, and tells whoever listens. Where nobody does, nothing is looked at; nor is anything
 * that is due while the clock is not known to be right, for it would be told of as if its time had come, and then no
 * more.
 */
export class DueAlerts {
  readonly #options: DueAlertsOptions;

  constructor(options: DueAlertsOptions) {
    this.#options = options;
  }

  async look(): Promise<void> {
    const { now, isClockRight } = this.#options;
    const at = now();
    if (isClockRight()) await this.#due(at);
    await this.#lists();
    await this.#misbehaviour();
  }

  /** `at`: a time in epoch milliseconds by a clock that was right then. It may not be any more. */
  async #due(at: number): Promise<void> {
    const { alerts } = this.#options;
    for (const [account, since] of alerts.listeners('incident.due-soon', 'incident.overdue')) {
      await this.#incidentsOf(account, since, at);
    }
    for (const [account, since] of alerts.listeners('review.due')) await this.#reviewsOf(account, since, at);
    for (const account of alerts.listeners('key.expiring').keys()) await this.#keysOf(account, at);
    for (const account of alerts.listeners('lock.expiring').keys()) await this.#locksOf(account, at);
  }

  /** Of an incident that was recorded, and whose clock ended, before anybody listened nobody is told. */
  async #incidentsOf(account: string, listensSince: number, at: number): Promise<void> {
    const { incidents } = this.#options;
    const since = Math.max(listensSince, at - LATE_MS);
    let after: IncidentPlace | undefined = placeAt(since);
    for (let looked = 0; looked < MAX_INCIDENTS && after !== undefined; looked += PAGE) {
      const page = await incidents.page(account, {
        state: undefined,
        accepts: () => true,
        after,
        limit: PAGE,
        now: at,
      });
      for (const incident of page.incidents) await this.#incident(account, incident, at);
      after = page.next;
    }
    const asked = { since, dueBefore: since, limit: MAX_INCIDENTS, now: at };
    for await (const incident of incidents.recordedLate(account, asked)) {
      await this.#incident(account, incident, at);
    }
  }

  /** `at` is when its state was read, so that the state and the event agree. */
  async #incident(account: string, { record, state }: TrackedIncident, at: number): Promise<void> {
    if (state !== 'open' && state !== 'due-soon' && state !== 'overdue') return;
    const { alerts } = this.#options;
    const incidentId = objectId('incident', record.id);
    const { dueAt, ref } = earliestDue(record);
    const due = Date.parse(dueAt);
    const data = { incidentId, attestationId: record.id, state, dueAt, ref };
    if (state === 'overdue') {
      await alerts.tell({ account, event: 'incident.overdue', subject: incidentId, data });
      return;
    }
    const start = Date.parse(clockStartOf(record).at);
    // The later of the two that have come is told of: who listens late is not told twice at once.
    const moment = at >= due - DAY_MS ? 'last-day' : at >= start + (due - start) / 2 ? 'half' : null;
    if (moment === null) return;
    await alerts.tell({
      account,
      event: 'incident.due-soon',
      subject: `${incidentId} ${moment}`,
      data: { ...data, moment },
    });
  }

  /** Of what was recorded, and due, before anybody listened nobody is told. */
  async #reviewsOf(account: string, listensSince: number, at: number): Promise<void> {
    const { dueReviews } = this.#options;
    const since = Math.max(listensSince, at - LATE_MS);
    const period = { from: since, to: at + REVIEW_DUE_MS, limit: MAX_REVIEWS };
    for await (const review of dueReviews.between(account, period)) await this.#review(account, review, at);
    const late = { since, dueBefore: since, limit: MAX_REVIEWS };
    for await (const review of dueReviews.recordedLate(account, late)) await this.#review(account, review, at);
  }

  async #review(account: string, { record, dueAt }: DueReview, at: number): Promise<void> {
    const { alerts } = this.#options;
    const moment = at >= Date.parse(dueAt) ? 'due' : 'soon';
    const data = { attestationId: record.id, kind: record.kind, reviewDueAt: dueAt, moment };
    await alerts.tell({ account, event: 'review.due', subject: `${record.id} ${moment}`, data });
  }

  async #keysOf(account: string, at: number): Promise<void> {
    const { alerts, keys } = this.#options;
    for (const key of await keys.list(account)) {
      const { id, expiresAt } = key;
      if (!isEnding(key, at, KEY_ENDS_MS)) continue;
      await alerts.tell({ account, event: 'key.expiring', subject: id, data: { keyId: id, expiresAt } });
    }
  }

  /** Of a lock whose end leaves nothing unlocked nobody is told. */
  async #locksOf(account: string, at: number): Promise<void> {
    const { alerts } = this.#options;
    const period = { after: at, before: at + LOCK_ENDS_MS, limit: MAX_LOCK_SCOPES };
    for await (const { lock, at: end } of lockEnds(this.#options, account, period)) {
      const data = { attestationId: lock, expiresAt: timestampOf(end) };
      await alerts.tell({ account, event: 'lock.expiring', subject: lock, data });
    }
  }

  /** A look at a source that finds the same edition is attested anew, and is no news. */
  async #lists(): Promise<void> {
    const { alerts, lists } = this.#options;
    const accounts = [...alerts.listeners('list.updated').keys()];
    for (const { listId, fileHash, attestationId } of lists.current().values()) {
      const data = { listId, fileHash, attestationId };
      await alerts.tellState(accounts, { event: 'list.updated', subject: listId, data }, fileHash);
    }
  }

  async #misbehaviour(): Promise<void> {
    const { alerts, equivocations } = this.#options;
    const listeners = alerts.listeners('misbehaviour.found');
    if (listeners.size === 0) return;
    for (const { node, batch, stands } of equivocations.all()) {
      if (!stands) continue;
      for (const account of listeners.keys()) {
        const subject = `${node} ${batch}`;
        await alerts.tell({ account, event: 'misbehaviour.found', subject, data: { node, batch } });
      }
    }
  }
}
