import { dayOf } from '../../../protocol/audit/day.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { facetText } from '../../../protocol/frameworks/facet.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { countEndOperation } from '../count-end.ts';
import type { RecordCounter } from '../record-counters.ts';
import { recount } from '../recount.ts';
import { RowPace, type StagedRows } from '../row-pace.ts';
import { sourceKey } from '../sources/sources.ts';
import { DayTally } from './day-tally.ts';
import { ALL_SOURCES, type FacetCount, TALLIED, tallyTable } from './tally-table.ts';

/** Counts kept in memory, of all days together; days read longest ago make room. */
const MAX_CACHED_FACETS = 50_000;
/** Records counted between two parts: well below a millisecond. */
const PART_RECORDS = 128;

/** The two counts that a record is part of. */
interface Scopes {
  readonly source: DayTally;
  readonly account: DayTally;
}

/** The write under way. */
interface Staged {
  readonly days: ReadonlySet<DayTally>;
  readonly rows: StagedRows;
}

export interface EvidenceTallyOptions {
  /** Counts kept in memory. Those that were put off are kept beyond it. */
  readonly maxCached?: number;
  readonly pace?: RowPace;
}

/**
 * Counts this node's records by source, day and facet, so that a report reads days and never records. Its rows are put
 * off as `RowPace` says: anyone who reads them has them written first. Owned by the writer of records, one write after
 * the other.
 */
export class EvidenceTally implements RecordCounter {
  readonly #store: Store;
  readonly #maxCached: number;
  /** By `day/account` and `day/account/source id`: neither a day nor an account holds a `/`. */
  readonly #days = new Map<string, DayTally>();
  /** Facets of all days in memory. */
  #cached = 0;
  readonly #node: NodeId;
  readonly #pace: RowPace;
  readonly #unwritten = new Set<DayTally>();
  #staged: Staged | undefined;

  private constructor(
    store: Store,
    node: NodeId,
    { maxCached = MAX_CACHED_FACETS, pace = new RowPace() }: EvidenceTallyOptions,
  ) {
    this.#store = store;
    this.#node = node;
    this.#maxCached = maxCached;
    this.#pace = pace;
  }

  /**
   * Counts what the store has uncounted: all of it, where it was written before there were counts, or by other rules.
   */
  static async open(store: Store, node: NodeId, options: EvidenceTallyOptions = {}): Promise<EvidenceTally> {
    const tally = new EvidenceTally(store, node, options);
    await recount(store, node, TALLIED, tally);
    return tally;
  }

  async load(records: readonly AttestationRecord[]): Promise<void> {
    const needed = new Map<string, () => Promise<DayTally>>();
    for (const record of records) {
      const { account, sourceId, sourceSeq } = record;
      const day = dayOf(record.submittedAt);
      const [ofAccount, ofSource] = [accountName(day, account), sourceName(day, account, sourceId)];
      if (!needed.has(ofAccount)) needed.set(ofAccount, () => this.#read(account, ALL_SOURCES, day));
      // A source has no rows before its first record.
      if (sourceSeq === 1) needed.set(ofSource, async () => new DayTally(account, sourceKey(sourceId), day));
      else if (!needed.has(ofSource)) needed.set(ofSource, () => this.#read(account, sourceKey(sourceId), day));
    }
    this.#makeSpace(needed);
    const missing = [...needed].filter(([name]) => !this.#days.has(name));
    await Promise.all(missing.map(async ([name, read]) => this.#keep(name, await read())));
  }

  *operations(records: readonly AttestationRecord[], writesAll = false): Generator<readonly Operation[]> {
    for (const day of this.#staged?.days ?? []) day.discard();
    const staged = new Set<DayTally>();
    const rows = this.#pace.stage(records, writesAll);
    const { withRows, next } = rows;
    this.#staged = { days: staged, rows };
    const scopes = new Map<string, Scopes>();
    for (const [i, record] of records.entries()) {
      if (i % PART_RECORDS === 0) yield [];
      const name = sourceName(dayOf(record.submittedAt), record.account, record.sourceId);
      let found = scopes.get(name);
      if (found === undefined) {
        found = this.#scopesOf(record, name);
        scopes.set(name, found);
        staged.add(found.source).add(found.account);
      }
      const facet = facetText(record);
      found.source.add(facet, record.id);
      found.account.add(facet, record.id);
    }
    const moved = withRows ? staged.union(this.#unwritten) : [];
    for (const day of moved) yield day.operations();
    if (withRows && (records.length > 0 || this.#unwritten.size > 0)) {
      yield [countEndOperation(TALLIED, this.#node, next)];
    }
  }

  committed(): void {
    if (this.#staged === undefined) return;
    const { days, rows } = this.#staged;
    const { withRows } = rows;
    for (const day of withRows ? days.union(this.#unwritten) : days) {
      this.#cached -= day.size;
      day.commit(withRows);
      this.#cached += day.size;
      if (day.hasUnwritten) this.#unwritten.add(day);
    }
    if (withRows) this.#unwritten.clear();
    this.#pace.committed(rows);
    this.#staged = undefined;
  }

  forget(): void {
    this.#days.clear();
    this.#cached = 0;
    this.#unwritten.clear();
    this.#staged = undefined;
  }

  #scopesOf(record: AttestationRecord, name: string): Scopes {
    const source = this.#days.get(name);
    const account = this.#days.get(accountName(dayOf(record.submittedAt), record.account));
    if (source === undefined || account === undefined) throw new RangeError(`the counts of ${name} were not loaded`);
    return { source, account };
  }

  async #read(account: string, source: string, day: string): Promise<DayTally> {
    const durable = new Map<string, FacetCount>();
    for await (const [[facet = ''], count] of tallyTable.under(this.#store, [account, source, day])) {
      durable.set(facet, count);
    }
    return new DayTally(account, source, day, durable);
  }

  #keep(name: string, day: DayTally): void {
    this.#days.set(name, day);
    this.#cached += day.size;
  }

  /**
   * Drops the days read longest ago, but none that is about to be used or put off. A day weighs one more than its
   * facets.
   */
  #makeSpace(needed: ReadonlyMap<string, unknown>): void {
    if (this.#cached + this.#days.size <= this.#maxCached) return;
    for (const [name, day] of this.#days) {
      if (needed.has(name) || day.hasUnwritten) continue;
      this.#days.delete(name);
      this.#cached -= day.size;
      if (this.#cached + this.#days.size <= this.#maxCached) return;
    }
  }
}

function accountName(day: string, account: string): string {
  return `${day}/${account}`;
}

function sourceName(day: string, account: string, sourceId: string): string {
  return `${day}/${account}/${sourceId}`;
}
