import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { PackQuestion } from '../../../protocol/pack/manifest.ts';
import type { Range } from '../../records/sources/continuity.ts';
import type { SourceRecords } from '../../records/sources/source-records.ts';
import { firstAt, stretchesOf } from '../../records/sources/stretches.ts';

/** Neighbouring places of a source whose records lie alike to a question: to its period, and to its moment. */
export interface PlaceRun extends Range {
  readonly side: 'before' | 'within' | 'after';
  /** Dated after the moment that the pack is of. */
  readonly isLater: boolean;
}

/**
 * The places of a source that a pack holds: from the first record of the period to the last, what lies between them
 * included, and a neighbour at either edge that is not of the period. The last one is not dated after the moment that
 * the pack is of. Empty where nothing is there.
 */
export function askedPlaces(runs: readonly PlaceRun[], withholdsBefore: boolean): Range {
  const upTo = runs.slice(0, runs.findLastIndex(({ isLater }) => !isLater) + 1);
  const end = upTo.at(-1)?.to ?? 0;
  const within = upTo.filter(({ side }) => side === 'within');
  const lastBefore = (place: number): number =>
    upTo.findLast(({ side, to }) => side === 'before' && to < place)?.to ?? 0;
  const first = within[0]?.from ?? lastBefore(end + 1) + 1;
  const last = within.at(-1)?.to ?? first - 1;
  const after = upTo.find(({ side, to }) => side === 'after' && to > last);
  const edge = after === undefined ? last : Math.max(after.from, last + 1);
  const closing = upTo.find(({ to, isLater }) => !isLater && to >= edge);
  return {
    from: withholdsBefore ? first : Math.max(1, lastBefore(first)),
    to: Math.max(edge, closing?.from ?? 0),
  };
}

/** The runs of an own source up to its last place: a few searches for each of its stretches. */
export async function runsOf(
  records: SourceRecords,
  last: number,
  { from, to, asOf }: PackQuestion,
): Promise<readonly PlaceRun[]> {
  const runs: PlaceRun[] = [];
  const all = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };
  for await (const stretch of stretchesOf(records, last, all)) {
    const { place: begins } = await firstAt(records, stretch, Date.parse(from));
    const { place: ends } = await firstAt(records, stretch, Date.parse(to));
    const { place: later } = await firstAt(records, stretch, Date.parse(asOf) + 1);
    const cuts = [stretch.from, begins, ends, later, stretch.to + 1].toSorted((a, b) => a - b);
    for (const [i, cut] of cuts.entries()) {
      const next = cuts[i + 1] ?? cut;
      const side = cut < begins ? 'before' : cut < ends ? 'within' : 'after';
      if (next > cut) runs.push({ from: cut, to: next - 1, side, isLater: cut >= later });
    }
  }
  return runs;
}

/** Takes one more record of a source into the runs of those before it. Returns its own run. */
export function extendRuns(
  runs: PlaceRun[],
  { sourceSeq, submittedAt }: AttestationRecord,
  { from, to, asOf }: PackQuestion,
): PlaceRun {
  const side = submittedAt < from ? 'before' : submittedAt < to ? 'within' : 'after';
  const isLater = submittedAt > asOf;
  const last = runs.at(-1);
  const goesOn = last !== undefined && last.side === side && last.isLater === isLater;
  if (goesOn) runs.pop();
  const run = { from: goesOn ? last.from : sourceSeq, to: sourceSeq, side, isLater } as const;
  runs.push(run);
  return run;
}
