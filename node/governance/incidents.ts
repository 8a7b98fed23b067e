import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { deadlineState, DUE_SOON_MS, notificationDueAt } from '../../protocol/compliance/notification-clock.ts';
import { type NodeId, nodeOfRecord, recordId, type RecordId } from '../../protocol/ids.ts';
import { linkingIdsOfEach, type LinksTo, linkTable } from '../records/link-tables.ts';
import { readRecord } from '../records/record-reader.ts';
import type { Store } from '../store/store.ts';
import type { AccountSpeakers } from './account-records.ts';
import { incidentTable, isNotification, notificationTable } from './incident-tables.ts';

/** Incidents that one page looks at: a filter may pass over many before it finds one. */
const MAX_LOOKED_AT = 200;
/** Records of each node that name an incident and are looked at for a notification or a correction. */
const MAX_NAMING_LOOKED_AT = 20;

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
  readonly #speakers: Pick<AccountSpeakers, 'speaking'>;

  /** `speakers`: what other nodes say of an incident counts where they speak for its account. */
  constructor(store: Store, self: NodeId, speakers: Pick<AccountSpeakers, 'speaking'>) {
    this.#store = store;
    this.#self = self;
    this.#speakers = speakers;
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
    const records = await this.#read(await idsOf(own));
    // Rows of this node may be many, and the first of its notifications is found already.
    const naming = await this.#naming({ target: id, name: 'incident', kind: 'decision' });
    records.push(...(await this.#read(naming.filter((one) => nodeOfRecord(one) !== this.#self))));
    const notifications = await this.#speakers.speaking(account, records.filter(isNotification));
    return notifications.toSorted(byTime)[0];
  }

  /** The last one by order of nodes, or where it counts for nothing, the youngest of those that count. */
  async #correctionOf({ id, account }: AttestationRecord): Promise<RecordId | undefined> {
    const links = { target: id, name: 'supersedes', kind: 'incident' } as const;
    const rows = linkTable.under(this.#store, [id, links.name, links.kind], { reverse: true, limit: 1 });
    const [last] = await this.#read(await idsOf(rows));
    if (last === undefined) return undefined;
    const [correction] = await this.#speakers.speaking(account, [last]);
    if (correction !== undefined) return correction.id;
    const all = await this.#read(await this.#naming(links));
    return (await this.#speakers.speaking(account, all)).toSorted(byTime).at(-1)?.id;
  }

  async #naming(links: LinksTo): Promise<readonly RecordId[]> {
    const terms = { limit: MAX_NAMING_LOOKED_AT, each: MAX_NAMING_LOOKED_AT, home: this.#self };
    return (await linkingIdsOfEach(this.#store, links, terms)).ids;
  }

  async #read(ids: readonly RecordId[]): Promise<AttestationRecord[]> {
    const found = await Promise.all(ids.map((id) => readRecord(this.#store, id)));
    return found.flatMap((one) => one?.record ?? []);
  }
}

async function idsOf(rows: AsyncIterable<[parts: string[], id: string]>): Promise<readonly RecordId[]> {
  const ids: RecordId[] = [];
  for await (const [, id] of rows) ids.push(recordId(id));
  return ids;
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
