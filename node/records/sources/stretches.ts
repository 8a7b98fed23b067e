import type { Range } from './continuity.ts';
import type { SourceRecords } from './source-records.ts';

/** Neighbours that are tried where a record cannot be read. */
const MAX_NEIGHBOURS = 16;

/** Where a search ended, and how many records it looked at. */
export interface SearchResult {
  readonly place: number;
  readonly looks: number;
}

/** Times in epoch milliseconds; `from` is included, `to` is not. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/**
 * Places of a source whose records stand in order of time, `from` and `to` included, and what all of their times lie
 * within, both included. It may have no place.
 */
export interface Stretch extends Range {
  readonly earliest: number;
  readonly latest: number;
}

/** A source up to its last record as one stretch: for anyone who does not go by its times. */
export function wholeSource(last: number): Stretch {
  return { from: 1, to: last, earliest: Number.NEGATIVE_INFINITY, latest: Number.MAX_SAFE_INTEGER };
}

/**
 * The stretches of a source up to its last record: one, but where the clock of its node was ahead and was set right. Those
 * of which no record can be of the period are left out, unread.
 */
export async function* stretchesOf(
  records: SourceRecords,
  last: number,
  { from, to }: Period,
): AsyncGenerator<Stretch> {
  const steps = await records.timeSteps();
  /** Where the next stretch begins; undefined where that was not looked for. */
  let next: number | undefined = 1;
  for (let i = 0; i <= steps.length; i++) {
    const [begins, ends] = [i === 0 ? undefined : steps[i - 1], steps[i]];
    const earliest = begins === undefined ? Number.NEGATIVE_INFINITY : Date.parse(begins.after);
    const latest = ends === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(ends.before);
    if (latest < from || earliest >= to) {
      next = undefined;
      continue;
    }
    const first: number = next ?? (await placeOf(records, last, begins?.seq ?? 1));
    next = ends === undefined ? last + 1 : await placeOf(records, last, ends.seq);
    yield { from: first, to: next - 1, earliest, latest };
  }
}

/**
 * The first place of a stretch whose record was made at this time or later; the one after it where there is none. It
 * takes a few looks, whatever the length. Where records cannot be read the place may lie before the right one, and never
 * after it.
 */
export async function firstAt(
  records: SourceRecords,
  stretch: Stretch,
  epochMilliseconds: number,
): Promise<SearchResult> {
  if (epochMilliseconds <= stretch.earliest) return { place: stretch.from, looks: 0 };
  if (epochMilliseconds > stretch.latest) return { place: stretch.to + 1, looks: 0 };
  return firstWhere(stretch, async (place) => {
    const found = await records.at(place);
    return found.state === 'whole' ? Date.parse(found.record.submittedAt) >= epochMilliseconds : undefined;
  });
}

/**
 * From the first record of a source in a period to its last one: all between them, also what is not of the period where
 * times go back. Empty where there is none.
 */
export async function placesOf(records: SourceRecords, last: number, period: Period): Promise<Range> {
  let places: Range | undefined;
  for await (const stretch of stretchesOf(records, last, period)) {
    const [{ place: from }, { place: end }] = [
      await firstAt(records, stretch, period.from),
      await firstAt(records, stretch, period.to),
    ];
    if (from < end) places = { from: places?.from ?? from, to: end - 1 };
  }
  return places ?? { from: 1, to: 0 };
}

/** The last place of a source whose record has this seq or an earlier one; 0 where there is none. */
export async function lastUpTo(records: SourceRecords, last: number, seq: number): Promise<number> {
  const end = last === 0 ? undefined : await records.seqAt(last);
  return end !== undefined && end <= seq ? last : (await placeOf(records, last, seq + 1)) - 1;
}

/** The first place of a source whose record has this seq or a later one; `last + 1` where there is none. */
async function placeOf(records: SourceRecords, last: number, seq: number): Promise<number> {
  const { place } = await firstWhere({ from: 1, to: last }, async (at) => {
    const found = await records.seqAt(at);
    return found === undefined ? undefined : found >= seq;
  });
  return place;
}

/** `is`: false before the place that is searched and true from it on; undefined where that cannot be told. */
async function firstWhere(
  { from, to }: Range,
  is: (place: number) => Promise<boolean | undefined>,
): Promise<SearchResult> {
  let low = from;
  let high = to + 1;
  let looks = 0;
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2);
    const before = Math.min(high, middle + MAX_NEIGHBOURS);
    let at = middle;
    let found: boolean | undefined;
    for (; at < before && found === undefined; at++, looks++) found = await is(at);
    if (found !== false) high = middle;
    else low = at;
  }
  return { place: low, looks };
}
