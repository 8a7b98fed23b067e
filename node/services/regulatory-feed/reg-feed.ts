import type { RegStatus } from '../../../protocol/api/regwatch-words.ts';
import { type RecordId, recordId } from '../../../protocol/ids.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import type { Store } from '../../store/store.ts';
import { ageOf, feedTable, itemTable, type Revision, revisionTable } from './regwatch-tables.ts';

/** An item as it stood at the moment that a reader's pages are of. */
export interface FeedItem {
  readonly record: RecordId;
  readonly ingestedAt: Timestamp;
  readonly revision: Revision;
}

/** Where a reader's next page starts, and the last record that its pages know. */
export interface FeedPlace {
  readonly asOf: number;
  /** Age, item and seq, as they stand in the key. */
  readonly after: string;
}
export const FEED_PLACE_PATTERN = '^\\d{16}/rgi_[0-9a-f]{32}/\\d{16}$';

/** An item fits where each list that is given has one of its labels. */
export interface FeedFilter {
  readonly jurisdictions?: readonly string[] | undefined;
  readonly frameworks?: readonly string[] | undefined;
  readonly status?: RegStatus | undefined;
  /** When it was ingested, in epoch milliseconds: `since` is included, `until` is not. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

export interface FeedPage {
  readonly items: readonly FeedItem[];
  /** Undefined at the end. A page may hold few items, or none, and still lead on. */
  readonly next: FeedPlace | undefined;
}

/** Revisions that one page looks at: a filter may pass over many before it finds one. */
const MAX_LOOKED_AT = 5_000;
/** Revisions read at once: little enough for the event loop. */
const SLICE = 100;

/** A row of the feed, and its key. */
interface FeedRow {
  readonly place: string;
  readonly age: number;
  readonly itemId: string;
  readonly seq: number;
  readonly record: RecordId;
}

/**
 * The items of the feed, the newest first. A reader's pages are all of one moment: what comes in meanwhile is not on
 * them, and an item that is superseded meanwhile stands where it stood.
 */
export class RegFeed {
  readonly #store: Store;
  /** Seq of the last record on the disk. */
  readonly #recorded: () => number;

  constructor(store: Store, recorded: () => number) {
    this.#store = store;
    this.#recorded = recorded;
  }

  async page(filter: FeedFilter, limit: number, place?: FeedPlace): Promise<FeedPage> {
    const asOf = place?.asOf ?? this.#recorded();
    const items: FeedItem[] = [];
    let looked = 0;
    let last = place?.after;
    for await (const rows of this.#slices(filter, last)) {
      const revisions = await this.#revisions(rows);
      for (const [i, row] of rows.entries()) {
        if (looked++ >= MAX_LOOKED_AT || items.length >= limit) return { items, next: placeOf(asOf, last) };
        last = row.place;
        const revision = revisions[i];
        if (revision === undefined || row.seq > asOf || !fits(revision, filter)) continue;
        if (await this.#isSuperseded(row, asOf)) continue;
        items.push({ record: row.record, ingestedAt: timestampOf(ageOf(row.age)), revision });
      }
    }
    return { items, next: undefined };
  }

  /** Items by the records that attest them, in this order; those that are held. */
  async items(records: readonly RecordId[]): Promise<readonly Revision[]> {
    const rows = await Promise.all(records.map((record) => revisionTable.get(this.#store, record)));
    return rows.filter((row) => row !== undefined);
  }

  async *#slices({ since, until }: FeedFilter, after: string | undefined): AsyncGenerator<readonly FeedRow[]> {
    const oldest = since === undefined ? Infinity : ageOf(since);
    const start = after === undefined ? { from: until === undefined ? 0 : ageOf(until - 1) } : { after };
    let rows: FeedRow[] = [];
    for await (const [parts, id] of feedTable.under(this.#store, [], start)) {
      const [age = '', itemId = '', seq = ''] = parts;
      if (Number(age) > oldest) break;
      rows.push({ place: parts.join('/'), age: Number(age), itemId, seq: Number(seq), record: recordId(id) });
      if (rows.length < SLICE) continue;
      yield rows;
      rows = [];
    }
    if (rows.length > 0) yield rows;
  }

  async #revisions(rows: readonly FeedRow[]): Promise<readonly (Revision | undefined)[]> {
    const found = await this.#store.getMany(rows.map(({ record }) => revisionTable.key(record)));
    return found.map((bytes) => (bytes === undefined ? undefined : revisionTable.decode(bytes)));
  }

  async #isSuperseded({ itemId, seq }: FeedRow, asOf: number): Promise<boolean> {
    for await (const [[later]] of itemTable.under(this.#store, [itemId], { after: seq, limit: 1 })) {
      return Number(later) <= asOf;
    }
    return false;
  }
}

function fits({ content }: Revision, { jurisdictions, frameworks, status }: FeedFilter): boolean {
  return (
    (jurisdictions === undefined || jurisdictions.some((label) => content.jurisdictions.includes(label))) &&
    (frameworks === undefined || frameworks.some((id) => content.frameworks.includes(id))) &&
    (status === undefined || content.status === status)
  );
}

function placeOf(asOf: number, after: string | undefined): FeedPlace | undefined {
  return after === undefined ? undefined : { asOf, after };
}
