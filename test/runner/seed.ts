/** Names the seed to the test files of a run. */
export const SEED_VARIABLE = 'MERIDIAN_TEST_SEED';
const USUAL_SEED = '1';
const END_OF_SEEDS = 2 ** 31;

/** Of all cases that tests generate: the same on every run, unless it is told another (`npm test -- --seed S`). */
export const SEED = readSeed(process.env[SEED_VARIABLE] ?? USUAL_SEED);

/** A seed as a command line has it. */
export function readSeed(text: string): number {
  const seed = Number(text);
  if (!/^\d+$/.test(text) || seed >= END_OF_SEEDS) {
    throw new RangeError(`${text} is no seed: a whole number is, below 2^31`);
  }
  return seed;
}
