import type { AuditDay as UtcDay } from '../../../protocol/audit/day.ts';
import { type Facet, readFacet } from '../../../protocol/frameworks/facet.ts';
import type { FacetTally } from '../../../protocol/frameworks/tallies.ts';
import { sourceKey } from '../sources/sources.ts';
import type { Store } from '../../store/store.ts';
import { ALL_SOURCES, FIRST_IDS, type FacetCount, tallyTable } from './tally-table.ts';

/** Rows that one reading looks at: a year of an account with a hundred different facets a day. */
const MAX_TALLY_ROWS = 40_000;

export interface TallyRange {
  readonly account: string;
  /** Null: all sources of the account together. */
  readonly sources: readonly string[] | null;
  /** Both included. */
  readonly from: UtcDay;
  readonly to: UtcDay;
}

export interface TallyReading {
  readonly tallies: readonly FacetTally[];
  /** Whole days were left out: the range has more rows than are looked at. */
  readonly truncated: boolean;
  /** Last day that is in the counts; null where a source was left out, or every day was. */
  readonly through: string | null;
}

/** Rows of one day, by facet. */
type DayRows = Map<string, FacetCount>;

/** Counts of own records in a range of days. Costs as many reads as there are rows, however many records they count. */
export async function readTallies(
  store: Store,
  { account, sources, from, to }: TallyRange,
  maxRows = MAX_TALLY_ROWS,
): Promise<TallyReading> {
  const sums = new Map<string, FacetTally>();
  const scopes = sources?.map(sourceKey) ?? [ALL_SOURCES];
  let rows = 0;
  for (const scope of scopes) {
    let last: string | null = null;
    for await (const [day, counts] of daysOf(store, [account, scope], from)) {
      if (day > to) break;
      rows += counts.size;
      if (rows > maxRows) return reading(sums, scopes.length === 1 ? last : null, true);
      for (const [text, count] of counts) addTo(sums, text, count);
      last = day;
    }
  }
  return reading(sums, to, false);
}

function reading(sums: ReadonlyMap<string, FacetTally>, through: string | null, truncated: boolean): TallyReading {
  return { tallies: [...sums.values()], truncated, through };
}

async function* daysOf(
  store: Store,
  scope: readonly [account: string, source: string],
  from: UtcDay,
): AsyncGenerator<[day: string, rows: DayRows]> {
  let current = '';
  let rows: DayRows = new Map();
  for await (const [[day = '', text = ''], count] of tallyTable.under(store, scope, { from })) {
    if (day !== current && rows.size > 0) {
      yield [current, rows];
      rows = new Map();
    }
    current = day;
    rows.set(text, count);
  }
  if (rows.size > 0) yield [current, rows];
}

function addTo(sums: Map<string, FacetTally>, text: string, count: FacetCount): void {
  const sum = sums.get(text);
  const facet = sum?.facet ?? facetOf(text);
  sums.set(text, sum === undefined ? { facet, ...count } : { facet, ...joined(sum, count) });
}

/** Ids are ULIDs of one node, so their order is that of time. */
function joined(a: FacetCount, b: FacetCount): FacetCount {
  const isFull = a.first.length === FIRST_IDS && (a.first.at(-1) ?? '') < (b.first[0] ?? '');
  return {
    count: a.count + b.count,
    first: isFull ? a.first : [...a.first, ...b.first].sort().slice(0, FIRST_IDS),
    last: a.last > b.last ? a.last : b.last,
  };
}

function facetOf(text: string): Facet {
  const facet = readFacet(text);
  if (facet === undefined) throw new TypeError('a stored count is of no facet');
  return facet;
}
