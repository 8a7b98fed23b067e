import type { ResidentBytes } from '../attacks/resident-memory.ts';
import { count, mebibytes, microseconds, milliseconds, ratio, type TextTable } from '../table.ts';
import type { AnswerTimes } from './questions.ts';
import type { StoreCheck } from './store-check.ts';

export interface NamedTimes extends AnswerTimes {
  readonly name: string;
}

/** What was found of a node with so many records. */
export interface SizeFigures {
  readonly records: number;
  /**
   * Records a second while the store was filled up to this size, and processor time of each, all threads, in
   * microseconds.
   */
  readonly filledPerSecond: number;
  readonly filledAll: number;
  readonly startMs: number;
  /** After the start, and after all questions. */
  readonly idle: ResidentBytes;
  readonly busy: ResidentBytes;
  readonly times: readonly NamedTimes[];
  /** Verdicts of records that were verified before. */
  readonly again: readonly NamedTimes[];
  readonly bytesARecord: number;
  readonly check: StoreCheck;
}

interface Line {
  readonly name: string;
  readonly figure: (figures: SizeFigures) => number;
  readonly text: (figure: number) => string;
}

/** A column a size; the last holds the largest against the smallest. */
export function sizeTable(found: readonly SizeFigures[]): TextTable {
  const [first] = found;
  const last = found.at(-1);
  if (first === undefined || last === undefined) return [['', 'nothing measured']];
  return [
    ['records', ...found.map(({ records }) => count(records)), 'largest ÷ smallest'],
    ...linesOf(first).map(({ name, figure, text }) =>
      [name].concat(
        found.map((figures) => text(figure(figures))),
        ratio(figure(last) / figure(first)),
      ),
    ),
  ];
}

function linesOf({ times, again }: SizeFigures): readonly Line[] {
  return [
    { name: 'filled, records/s', figure: (of) => of.filledPerSecond, text: count },
    { name: 'filled, processor a record', figure: (of) => of.filledAll, text: microseconds },
    { name: 'start', figure: (of) => of.startMs, text: milliseconds },
    ...times.flatMap(({ name }, i) => timeLines(name, (of) => of.times[i])),
    ...again.flatMap(({ name }, i): Line[] => [
      { name: `${name}, a second`, figure: (of) => of.again[i]?.perSecond ?? Number.NaN, text: count },
      ...timeLines(name, (of) => of.again[i]),
    ]),
    { name: 'memory of its own, started', figure: (of) => of.idle.own, text: mebibytes },
    { name: 'memory of its own, asked', figure: (of) => of.busy.own, text: mebibytes },
    { name: 'mapped files, asked', figure: (of) => of.busy.files, text: mebibytes },
    { name: 'disk, bytes a record', figure: (of) => of.bytesARecord, text: count },
    { name: 'fsck', figure: (of) => of.check.seconds, text: seconds },
    { name: 'fsck, records/s', figure: (of) => of.check.records / of.check.seconds, text: count },
    { name: 'fsck, memory of its own', figure: (of) => of.check.own, text: mebibytes },
  ];
}

function timeLines(name: string, timesOf: (figures: SizeFigures) => NamedTimes | undefined): Line[] {
  return [
    { name: `${name}, p50`, figure: (of) => timesOf(of)?.p50 ?? Number.NaN, text: milliseconds },
    { name: `${name}, p99`, figure: (of) => timesOf(of)?.p99 ?? Number.NaN, text: milliseconds },
    { name: `${name}, processor`, figure: (of) => timesOf(of)?.all ?? Number.NaN, text: microseconds },
  ];
}

function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}
