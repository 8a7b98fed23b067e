import type { Facts } from './facts.ts';

/** Exit codes of the command line. 2, unreadable, is for a text that is no bundle. */
export type ExitCode = 0 | 1 | 3 | 4 | 5;

/** The words of a verdict with their exit codes, in the order of protocol §8: the first that fits is the word. */
export const EXIT_CODES = {
  'not-signed': 1,
  contradicted: 1,
  'payload-damaged': 1,
  'rosters-do-not-join': 1,
  'pin-does-not-join': 1,
  'decision-mismatch': 1,
  misdated: 1,
  'no-batch-yet': 4,
  'not-sealed': 1,
  'no-decision-yet': 4,
  stale: 5,
  'too-few-checkpoints': 5,
  'roster-without-majority': 5,
  consistent: 3,
  verified: 0,
} as const satisfies Readonly<Record<string, ExitCode>>;

export type Word = keyof typeof EXIT_CODES;

/** When each word that is not `verified` fits, in the order in which they are tried. */
const FITS: readonly (readonly [Exclude<Word, 'verified'>, (facts: Facts) => boolean])[] = [
  ['not-signed', ({ signed }) => signed === 'fails'],
  ['contradicted', ({ contradicted }) => contradicted],
  ['payload-damaged', ({ payload }) => payload === 'damaged'],
  ['rosters-do-not-join', ({ rosters }) => rosters === 'do-not-join'],
  ['pin-does-not-join', ({ pin }) => pin === 'does-not-join'],
  ['decision-mismatch', ({ decision }) => decision === 'mismatch'],
  ['misdated', ({ decision }) => decision === 'misdated'],
  ['no-batch-yet', ({ sealed }) => sealed === null],
  ['not-sealed', ({ sealed }) => sealed !== 'holds'],
  ['no-decision-yet', ({ decision }) => decision === 'absent'],
  ['stale', ({ checkpoints }) => checkpoints === 'stale'],
  ['too-few-checkpoints', ({ checkpoints }) => checkpoints !== 'enough'],
  ['roster-without-majority', ({ rosters }) => rosters !== 'in-force'],
  ['consistent', ({ pin }) => pin !== 'joins'],
];

/** Every word, the worst first. */
export const WORDS: readonly Word[] = [...FITS.map(([word]) => word), 'verified'];

/** The word on a record (protocol §8). */
export function wordOf(facts: Facts): Word {
  const [word] = FITS.find(([, fits]) => fits(facts)) ?? [];
  if (word !== undefined) return word;
  // Every word that denies was tried; `verified` is said of what is shown, never for want of another word.
  return isVerified(facts) ? 'verified' : 'not-signed';
}

function isVerified({ signed, sealed, decision, onLedger, witnessed, contradicted, ...rest }: Facts): boolean {
  const { payload, rosters, pin, checkpoints } = rest;
  return (
    signed === 'holds' &&
    sealed === 'holds' &&
    decision === 'fits' &&
    onLedger &&
    witnessed &&
    checkpoints === 'enough' &&
    !contradicted &&
    payload !== 'damaged' &&
    rosters === 'in-force' &&
    pin === 'joins'
  );
}
