import { deadlineState, DUE_SOON_MS, notificationDueAt } from '../../protocol/compliance/notification-clock.ts';
import { type NodeId, recordId, type RecordId } from '../../protocol/ids.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { linkTable } from '../records/link-tables.ts';
import { readRecord } from '../records/record-reader.ts';
import type { Store } from '../store/store.ts';
import { incidentTable, isNotification, notificationTable } from './incident-tables.ts';

/** Incidents that one page looks at: a filter may pass over many before it finds one. */
const MAX_LOOKED_AT = 200;
/** Decisions of other nodes that name an incident and are looked at for a notification. */
const MAX_FOREIGN_LOOKED_AT = 20;

const INCIDENT_STATES = ['open', 'due-soon', 'overdue', 'notified'] as const;
export type IncidentState = (typeof INCIDENT_STATES)[number];

/** An incident, and what has become of it. */
export interface TrackedIncident {
  readonly record: AttestationRecord;
  readonly state: IncidentState;
  /** The first record that says that the authority was told. */
  readonly notification: AttestationRecord | undefined;
  /** The correction that stands in its place. */
  readonly supersededBy: RecordId | undefined;
}

/** A place in the list: end of the clock and seq, as they stand in the key. */
export type IncidentPlace = string;
export const INCIDENT_PLACE_PATTERN = '^\\d{16}/\\d{16}$';

export interface IncidentQuery {
  readonly state: IncidentState | undefined;
  /** Whether an incident is asked for, and may be seen. */
  readonly accepts: (record: AttestationRecord) => boolean;
  readonly after: IncidentPlace | undefined;
  readonly limit: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface IncidentPage {
  readonly incidents: readonly TrackedIncident[];
  /** Where the next page starts; undefined at the end of the list. */
  readonly next: IncidentPlace | undefined;
}

/** The own incidents of accounts, by the ends of their notification clocks. */
export class Incidents {
  readonly #store: Store;
  readonly #self: NodeId;

  constructor(store: Store, self: NodeId) {
    this.#store = store;
    this.#self = self;
  }

  /** The soonest due first. A page may be short, or empty, and still lead to another one. */
  async page(account: string, { state, accepts, after, limit, now }: IncidentQuery): Promise<IncidentPage> {
    const incidents: TrackedIncident[] = [];
    let looked = 0;
    let last = after;
    const from = earliestDue(state, now);
    const start = after === undefined ? { from } : { after };
    for await (const [parts, id] of incidentTable.under(this.#store, [account], start)) {
      if (Number(parts[0]) > latestDue(state, now)) break;
      if (looked++ >= MAX_LOOKED_AT || incidents.length >= limit) return { incidents, next: last };
      last = parts.join('/');
      const record = (await readRecord(this.#store, recordId(id)))?.record;
      if (record === undefined || !accepts(record)) continue;
      const tracked = await this.track(record, now);
      if (state === undefined || tracked.state === state) incidents.push(tracked);
    }
    return { incidents, next: undefined };
  }

  /** Where an incident stands at `now`, in epoch milliseconds. */
  async track(record: AttestationRecord, now: number): Promise<TrackedIncident> {
    const [notification, supersededBy] = await Promise.all([this.#notificationOf(record), this.#correctionOf(record)]);
    const state = notification === undefined ? deadlineState(Date.parse(notificationDueAt(record)), now) : 'notified';
    return { record, state, notification, supersededBy };
  }

  async #notificationOf({ id, account }: AttestationRecord): Promise<AttestationRecord | undefined> {
    const own = notificationTable.under(this.#store, [id], { limit: 1 });
    const records = await this.#read(own);
    // Rows of this node stand between those of the others, and may be many.
    const links = [id, 'incident', 'decision'];
    for (const from of ['', `${this.#self}0`]) {
      const rows = linkTable.under(this.#store, links, { from, limit: MAX_FOREIGN_LOOKED_AT });
      records.push(...(await this.#read(rows, this.#self)));
    }
    const notifications = records.filter((record) => isNotification(record) && record.account === account);
    return notifications.toSorted(byTime)[0];
  }

  async #correctionOf({ id, account }: AttestationRecord): Promise<RecordId | undefined> {
    const rows = linkTable.under(this.#store, [id, 'supersedes', 'incident'], { reverse: true, limit: 1 });
    const [correction] = await this.#read(rows);
    return correction?.account === account ? correction.id : undefined;
  }

  /** Records that rows lead to, up to the first whose row is of the node `until`. */
  async #read(rows: AsyncIterable<[parts: string[], id: string]>, until?: NodeId): Promise<AttestationRecord[]> {
    const records: AttestationRecord[] = [];
    for await (const [[node], id] of rows) {
      if (until !== undefined && node === until) break;
      const found = await readRecord(this.#store, recordId(id));
      if (found !== undefined) records.push(found.record);
    }
    return records;
  }
}

/** Ends of clocks among which the incidents of a state are. In epoch milliseconds. */
function earliestDue(state: IncidentState | undefined, now: number): number {
  if (state === 'due-soon') return Math.max(0, now);
  return state === 'open' ? Math.max(0, now + DUE_SOON_MS + 1) : 0;
}

function latestDue(state: IncidentState | undefined, now: number): number {
  if (state === 'overdue') return now - 1;
  return state === 'due-soon' ? now + DUE_SOON_MS : Infinity;
}

function byTime(a: AttestationRecord, b: AttestationRecord): number {
  return Date.parse(a.submittedAt) - Date.parse(b.submittedAt);
}
