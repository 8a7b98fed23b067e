import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { earliestDue } from '../../protocol/compliance/incident-clocks.ts';
import { type IncidentState, incidentState, tellsOfNotification } from '../../protocol/compliance/incident-state.ts';
import { DUE_SOON_MS } from '../../protocol/compliance/notification-clock.ts';
import { type NodeId, nodeOfRecord, recordId, type RecordId } from '../../protocol/ids.ts';
import { linkingIdsOfEach, type LinksTo, linkTable } from '../records/link-tables.ts';
import { readRecord } from '../records/record-reader.ts';
import type { Store } from '../store/store.ts';
import type { AccountSpeakers } from './account-records.ts';
import { incidentTable, notificationTable } from './incident-tables.ts';
import { type RecordedSince, recordedSince } from './recorded-since.ts';

/** Incidents that one page looks at: a filter may pass over many before it finds one. */
const MAX_LOOKED_AT = 200;
/** Records of each node that name an incident and are looked at for a notification or a correction. */
const MAX_NAMING_LOOKED_AT = 20;
/** Notifications of one incident that are looked at: one to each authority, and further ones. */
const MAX_NOTIFICATIONS = 200;
/** Corrections after another whose notifications count. */
const MAX_CORRECTED = 10;

/** An incident, and what has become of it. */
export interface TrackedIncident {
  readonly record: AttestationRecord;
  readonly state: IncidentState;
  /** The records that say that somebody was told of it, or of what it corrects, oldest first. */
  readonly notifications: readonly AttestationRecord[];
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

export interface LateIncidents extends RecordedSince {
  /** Before when their first clock ended, in epoch milliseconds. */
  readonly dueBefore: number;
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
    const from = firstDueOf(state, now);
    const start = after === undefined ? { from } : { after };
    for await (const [parts, id] of incidentTable.under(this.#store, [account], start)) {
      if (Number(parts[0]) > lastDueOf(state, now)) break;
      if (looked++ >= MAX_LOOKED_AT || incidents.length >= limit) return { incidents, next: last };
      last = parts.join('/');
      const record = (await readRecord(this.#store, recordId(id)))?.record;
      if (record === undefined || !accepts(record)) continue;
      const tracked = await this.track(record, now);
      if (state === undefined || tracked.state === state) incidents.push(tracked);
    }
    return { incidents, next: undefined };
  }

  /** Those recorded from a time on whose first clock ended before another, the newest first. */
  async *recordedLate(account: string, asked: LateIncidents): AsyncGenerator<TrackedIncident> {
    for await (const record of recordedSince(this.#store, account, 'incident', asked)) {
      if (Date.parse(earliestDue(record).dueAt) < asked.dueBefore) yield await this.track(record, asked.now);
    }
  }

  /** Where an incident stands at `now`, in epoch milliseconds. */
  async track(incident: AttestationRecord, now: number): Promise<TrackedIncident> {
    const [notifications, supersededBy] = await Promise.all([
      this.#notificationsOf(incident),
      this.#correctionOf(incident),
    ]);
    const history = { incident, notifications, isSuperseded: supersededBy !== undefined };
    return { record: incident, state: incidentState(history, now), notifications, supersededBy };
  }

  /** Of an incident and of those that it corrects. */
  async #notificationsOf(incident: AttestationRecord): Promise<readonly AttestationRecord[]> {
    const records: AttestationRecord[] = [];
    for (const { id } of await this.#corrected(incident)) {
      const own = notificationTable.under(this.#store, [id], { limit: MAX_NOTIFICATIONS });
      records.push(...(await this.#read(await idsOf(own))));
      for (const kind of ['decision', 'notification'] as const) {
        const naming = await this.#naming({ target: id, name: 'incident', kind });
        // Rows of this node may be many, and its notifications are found already.
        records.push(...(await this.#read(naming.filter((one) => nodeOfRecord(one) !== this.#self))));
      }
    }
    const speaking = await this.#speakers.speaking(incident.account, records.filter(tellsOfNotification));
    const replaced = await Promise.all(speaking.map((one) => this.#isReplaced(one)));
    return speaking.filter((_, i) => replaced[i] === false).toSorted(byTime);
  }

  /** Whether another notification, of a node that speaks for the account, stands in its place. */
  async #isReplaced({ id, kind, account }: AttestationRecord): Promise<boolean> {
    if (kind !== 'notification') return false;
    const ids = await this.#naming({ target: id, name: 'supersedes', kind });
    return ids.length > 0 && (await this.#speakers.speaking(account, await this.#read(ids))).length > 0;
  }

  /** The incident, and what it corrects, and what that corrects. */
  async #corrected(incident: AttestationRecord): Promise<readonly AttestationRecord[]> {
    const chain = [incident];
    while (chain.length < MAX_CORRECTED) {
      const before = chain.at(-1)?.links.supersedes;
      const found = before === undefined ? undefined : (await readRecord(this.#store, before))?.record;
      if (found === undefined || found.kind !== 'incident' || found.account !== incident.account) break;
      chain.push(found);
    }
    return chain;
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
function firstDueOf(state: IncidentState | undefined, now: number): number {
  if (state === 'due-soon') return Math.max(0, now);
  return state === 'open' ? Math.max(0, now + DUE_SOON_MS + 1) : 0;
}

function lastDueOf(state: IncidentState | undefined, now: number): number {
  if (state === 'overdue') return now - 1;
  return state === 'due-soon' ? now + DUE_SOON_MS : Infinity;
}

function byTime(a: AttestationRecord, b: AttestationRecord): number {
  return Date.parse(a.submittedAt) - Date.parse(b.submittedAt);
}
