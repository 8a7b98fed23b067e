import { coarseFacetText } from '../../../protocol/frameworks/facet.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import type { Operation } from '../../store/operation.ts';
import { ALL_SOURCES, FIRST_IDS, type FacetCount, tallyTable } from './tally-table.ts';

/**
 * Facets of one scope's day that are kept apart. Past it a record of a new facet is counted without its fields, and an
 * event that no clause knows without its name: a caller who varies them makes its own reports coarse, and no more rows.
 */
export const MAX_FACETS_OF_SOURCE = 200;
export const MAX_FACETS_OF_ACCOUNT = 1000;

/**
 * Counts of one UTC day of a source, or of all sources of an account: of records on the disk, and of a write under way.
 */
export class DayTally {
  readonly #parts: readonly [account: string, source: string, day: string];
  readonly #maxFacets: number;
  /** Of the records that are on the disk. */
  readonly #durable: Map<string, FacetCount>;
  /** Facets whose rows on the disk count fewer of them. */
  readonly #unwritten = new Set<string>();
  readonly #staged = new Map<string, FacetCount>();
  #facets: number;

  /** `source`: key of a source, or `ALL_SOURCES`. */
  constructor(account: string, source: string, day: string, durable: Map<string, FacetCount> = new Map()) {
    this.#parts = [account, source, day];
    this.#maxFacets = source === ALL_SOURCES ? MAX_FACETS_OF_ACCOUNT : MAX_FACETS_OF_SOURCE;
    this.#durable = durable;
    this.#facets = durable.size;
  }

  /** Facets of the durable counts. */
  get size(): number {
    return this.#durable.size;
  }

  /** Whether rows on the disk count fewer records than are there. */
  get hasUnwritten(): boolean {
    return this.#unwritten.size > 0;
  }

  /** Counts one more record; nothing durable moves. */
  add(facet: string, id: RecordId): void {
    const text = this.#facets < this.#maxFacets || this.#has(facet) ? facet : coarseFacetText(facet);
    const before = this.#staged.get(text) ?? this.#durable.get(text);
    if (before === undefined) this.#facets++;
    this.#staged.set(text, counted(before, id));
  }

  /** The rows that the records added so far move, and those that were put off. */
  operations(): Operation[] {
    const rows: Operation[] = [];
    for (const [facet, count] of this.#staged) rows.push(tallyTable.put([...this.#parts, facet], count));
    for (const facet of this.#unwritten) {
      const count = this.#staged.has(facet) ? undefined : this.#durable.get(facet);
      if (count !== undefined) rows.push(tallyTable.put([...this.#parts, facet], count));
    }
    return rows;
  }

  /** The records that were added are on the disk, and with them all rows, or no row. */
  commit(withRows: boolean): void {
    for (const [facet, count] of this.#staged) {
      this.#durable.set(facet, count);
      if (!withRows) this.#unwritten.add(facet);
    }
    if (withRows) this.#unwritten.clear();
    this.#staged.clear();
  }

  /** What was added did not reach the disk. */
  discard(): void {
    this.#staged.clear();
    this.#facets = this.#durable.size;
  }

  #has(facet: string): boolean {
    return this.#staged.has(facet) || this.#durable.has(facet);
  }
}

function counted(before: FacetCount | undefined, id: RecordId): FacetCount {
  if (before === undefined) return { count: 1, first: [id], last: id };
  const { count, first } = before;
  return { count: count + 1, first: first.length < FIRST_IDS ? [...first, id] : first, last: id };
}
