import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import type { Store } from '../../store/store.ts';
import { BodyReader } from './body-reader.ts';
import type { Range } from './continuity.ts';
import { sourceIndex } from './source-index.ts';
import { type SourceReads, SourceRecords } from './source-records.ts';
import { sourceKey } from './sources.ts';
import { firstAt, stretchesOf, wholeSource } from './stretches.ts';

/** Records that one page looks at, found or passed over. */
export const MAX_LOOKS = 1_000;
/** Looks that must be left for another stretch of a source to be begun: to find its first and last record takes no more. */
const LOOKS_TO_BEGIN = 128;
/** Sorts right after `/`: the end of everything below a key. */
const AFTER_SLASH = '0';

/** Which of an account's records are listed. */
export interface RecordFilter {
  readonly account: string;
  /** Null: all of the account's. */
  readonly sources: readonly string[] | null;
  /** Epoch milliseconds; `from` is included, `to` is not. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  /** Undefined: all. */
  readonly accepts?: ((record: AttestationRecord) => boolean) | undefined;
}

/** A place in the list: of a source, by its key part, and in it. */
export interface Place {
  readonly source: string;
  readonly sourceSeq: number;
}

export interface RecordPage {
  readonly records: readonly AttestationRecord[];
  /** Places whose records cannot be read. */
  readonly unreadable: readonly Place[];
  /** Where to go on; null where the list is at its end. A short page may have one. */
  readonly next: Place | null;
}

/** A source of an account, by its key, and its first and newest record; null where one cannot be read. */
export interface NamedSource {
  readonly source: string;
  /** `sourceSeq` of its last record. */
  readonly last: number;
  readonly first: AttestationRecord | null;
  readonly newest: AttestationRecord | null;
}

/** Lists records of this node: source after source in order of the sources' keys, within a source the oldest first. */
export class RecordLists {
  readonly #store: Store;
  readonly #node: NodeId;

  constructor(store: Store, node: NodeId) {
    this.#store = store;
    this.#node = node;
  }

  /** The records of one source. */
  source(account: string, sourceId: string): SourceRecords {
    return this.records(account, sourceKey(sourceId));
  }

  /** The records of the source of a key. */
  records(account: string, source: string): SourceRecords {
    return new SourceRecords(this.#reads(), account, source);
  }

  /** At most `limit` records, from a place on. Looks at a bounded number of them, and always gets on. */
  async page(filter: RecordFilter, from: Place | undefined, limit: number): Promise<RecordPage> {
    const reads = this.#reads();
    const page = new PageWalk(filter, limit);
    for await (const source of this.#sources(filter, from?.source)) {
      const start = from?.source === source ? from.sourceSeq : 1;
      const list = new SourceRecords(reads, filter.account, source);
      const next = await page.walk(list, start);
      if (next !== null) return page.result(next);
    }
    return page.result(null);
  }

  /**
   * Sources of an account, in order of their keys from one on, at most `limit`; `next`: the key to go on with. `sources`:
   * those that are asked for; null: all.
   */
  async named(
    filter: Pick<RecordFilter, 'account' | 'sources'>,
    from: string | undefined,
    limit: number,
  ): Promise<{ readonly sources: readonly NamedSource[]; readonly next: string | null }> {
    const reads = this.#reads();
    const found: NamedSource[] = [];
    for await (const source of this.#sources(filter, from)) {
      if (found.length >= limit) return { sources: found, next: source };
      const records = new SourceRecords(reads, filter.account, source);
      const { last } = await records.end();
      if (last > 0) {
        found.push({ source, last, first: await wholeAt(records, 1), newest: await wholeAt(records, last) });
      }
    }
    return { sources: found, next: null };
  }

  #reads(): SourceReads {
    return { store: this.#store, node: this.#node, bodies: new BodyReader(this.#store, this.#node) };
  }

  /** Key parts of the sources, in their order. */
  async *#sources({ account, sources }: Pick<RecordFilter, 'account' | 'sources'>, from = ''): AsyncGenerator<string> {
    if (sources !== null) {
      yield* sources
        .map(sourceKey)
        .filter((source) => source >= from)
        .sort();
      return;
    }
    const under = `${sourceIndex.key(account)}/`;
    let row = await this.#store.first({ gte: under + from, lt: sourceIndex.key(account) + AFTER_SLASH });
    while (row !== undefined) {
      const [source = ''] = row[0].slice(under.length).split('/');
      yield source;
      row = await this.#store.first({
        gt: under + source + AFTER_SLASH,
        lt: sourceIndex.key(account) + AFTER_SLASH,
      });
    }
  }
}

async function wholeAt(records: SourceRecords, sourceSeq: number): Promise<AttestationRecord | null> {
  const found = await records.at(sourceSeq);
  return found.state === 'whole' ? found.record : null;
}

class PageWalk {
  readonly #filter: RecordFilter;
  readonly #limit: number;
  readonly #records: AttestationRecord[] = [];
  readonly #unreadable: Place[] = [];
  #looks = 0;
  /** A page that got no further would be asked for again for ever. */
  #gotOn = false;

  constructor(filter: RecordFilter, limit: number) {
    this.#filter = filter;
    this.#limit = limit;
  }

  /** Takes the records of a source; the place where the page is full, or null at the end of the source. */
  async walk(list: SourceRecords, start: number): Promise<Place | null> {
    const { source } = list;
    const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = this.#filter;
    const isWhole = this.#filter.from === undefined && this.#filter.to === undefined;
    const { last } = await list.end();
    this.#looks++;
    for await (const stretch of isWhole ? [wholeSource(last)] : stretchesOf(list, last, { from, to })) {
      if (stretch.to < start) continue;
      if (this.#gotOn && this.#looks + LOOKS_TO_BEGIN > MAX_LOOKS) {
        return { source, sourceSeq: Math.max(stretch.from, start) };
      }
      const { place, looks } = await firstAt(list, stretch, from);
      this.#looks += looks;
      const next = await this.#walkOn(list, { from: Math.max(place, start), to: stretch.to });
      if (next !== null) return next;
    }
    this.#gotOn = true;
    return null;
  }

  /** Takes records that stand in order of time, up to the end of the period. */
  async #walkOn(list: SourceRecords, places: Range): Promise<Place | null> {
    const { from, to, accepts } = this.#filter;
    for (let sourceSeq = places.from; sourceSeq <= places.to; sourceSeq++) {
      const place = { source: list.source, sourceSeq };
      if (this.#records.length >= this.#limit || (this.#gotOn && this.#looks >= MAX_LOOKS)) return place;
      this.#looks++;
      this.#gotOn = true;
      const found = await list.at(sourceSeq);
      if (found.state !== 'whole') {
        this.#unreadable.push(place);
        continue;
      }
      const time = Date.parse(found.record.submittedAt);
      if (to !== undefined && time >= to) return null;
      const isAsked = (from === undefined || time >= from) && (accepts === undefined || accepts(found.record));
      if (isAsked) this.#records.push(found.record);
    }
    return null;
  }

  result(next: Place | null): RecordPage {
    return { records: this.#records, unreadable: this.#unreadable, next };
  }
}
