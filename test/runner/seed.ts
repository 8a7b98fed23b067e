import { wholeNumberOf } from '../../scripts/command-line.ts';

/** Names the seed to the test files of a run. */
export const SEED_VARIABLE = 'MERIDIAN_TEST_SEED';
const USUAL_SEED = '1';
const END_OF_SEEDS = 2 ** 31;

/** Of all cases that tests generate: the same on every run, unless it is told another (`npm test -- --seed S`). */
export const SEED = seedOf(process.env[SEED_VARIABLE] ?? USUAL_SEED);

/** A seed as a command line has it; null where it is none. */
export function readSeed(text: string): number | null {
  return wholeNumberOf(text, 0, END_OF_SEEDS - 1);
}

function seedOf(text: string): number {
  const seed = readSeed(text);
  if (seed === null) throw new RangeError(`${SEED_VARIABLE}: ${text} is no seed: a whole number is, below 2^31`);
  return seed;
}
