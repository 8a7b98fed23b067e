import { residentBytes } from '../attacks/resident-memory.ts';
import type { Round } from '../http/round.ts';
import type { BenchOptions } from '../part.ts';
import { median } from '../statistics.ts';
import { count, mebibytes, microseconds, milliseconds, ratio } from '../table.ts';

/** One server under one form of load. */
export interface Way {
  /** The server, as the table names it. */
  readonly server: string;
  /** Of the process that takes the records. */
  readonly pid: number;
  /** Whether one thread of the process runs its event loop. */
  readonly hasMainThread: boolean;
  readonly run: (seconds: number) => Promise<Round>;
}

/** Servers under the same form of load, measured in turns: the first is the one that the others are held against. */
export interface Comparison {
  /** The form of load, as the table names it. */
  readonly load: string;
  readonly ways: readonly Way[];
}

/** A round, and the memory of the process after it. */
interface MeasuredRound extends Round {
  /** Bytes in memory, with pages of mapped files. */
  readonly resident: number;
}

/** Alternating rounds, and the length of each in seconds. */
export interface Rounds {
  readonly rounds: number;
  readonly seconds: number;
}

export const HEAD: readonly string[] = [
  '',
  'load',
  'records/s',
  'node ÷ it',
  'p50',
  'p99',
  'node ÷ it',
  'main',
  'all',
  'node ÷ it',
  'resident',
];

/** Rows of the table, and the number of requests that failed. */
export async function compare(
  { load, ways }: Comparison,
  { rounds, seconds }: Rounds,
  { say, signal }: Pick<BenchOptions, 'say' | 'signal'>,
): Promise<{ readonly rows: readonly string[][]; readonly failed: number }> {
  const measured = ways.map((): MeasuredRound[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, way] of ways.entries()) {
      signal.throwIfAborted();
      const made = await way.run(seconds);
      const { own, files } = await residentBytes(way.pid);
      measured[i]?.push({ ...made, resident: own + files });
      say(`${way.server}, ${load}: ${count(made.perSecond)}/s`);
    }
  }
  const [first = []] = measured;
  return {
    rows: ways.map((way, i) => rowOf(way, load, measured[i] ?? [], i === 0 ? [] : first)),
    failed: measured.flat().reduce((sum, { failed }) => sum + failed, 0),
  };
}

/** `against`: rounds of the server that this one is held against, in pairs with its own; none where it is that one. */
function rowOf(
  { server, hasMainThread }: Way,
  load: string,
  own: readonly MeasuredRound[],
  against: readonly MeasuredRound[],
): string[] {
  const of = (figure: keyof MeasuredRound) => median(own.map((round) => round[figure]));
  const paired = (figure: keyof MeasuredRound) => {
    if (against.length === 0) return '';
    return ratio(median(own.map((round, i) => (against[i]?.[figure] ?? Number.NaN) / round[figure])));
  };
  return [
    server,
    load,
    count(of('perSecond')),
    paired('perSecond'),
    milliseconds(of('p50')),
    milliseconds(of('p99')),
    paired('p99'),
    hasMainThread ? microseconds(of('main')) : '–',
    microseconds(of('all')),
    paired('all'),
    mebibytes(of('resident')),
  ];
}
