import type { SourceRecords } from './source-records.ts';

/** Neighbours that are tried where a record cannot be read. */
const MAX_NEIGHBOURS = 16;

/** Where a search ended, and how many records it looked at. */
export interface SearchResult {
  readonly place: number;
  readonly looks: number;
}

/**
 * The first place from 1 to `last` whose record was made at this time or later; `last + 1` where there is none. A
 * source's records stand in order of time, so it takes a few looks, whatever the length. Where records cannot be read the
 * place may lie before the right one, and never after it.
 */
export async function firstAt(records: SourceRecords, last: number, epochMilliseconds: number): Promise<SearchResult> {
  let low = 1;
  let high = last + 1;
  let looks = 0;
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2);
    const before = Math.min(high, middle + MAX_NEIGHBOURS);
    let at = middle;
    let time: number | undefined;
    for (; at < before && time === undefined; at++, looks++) time = await timeAt(records, at);
    if (time === undefined || time >= epochMilliseconds) high = middle;
    else low = at;
  }
  return { place: low, looks };
}

/** Undefined where the record cannot be read. */
async function timeAt(records: SourceRecords, sourceSeq: number): Promise<number | undefined> {
  const found = await records.at(sourceSeq);
  return found.state === 'whole' ? Date.parse(found.record.submittedAt) : undefined;
}
