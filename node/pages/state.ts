import type { Word } from '../../protocol/verdict/word.ts';

/** What a person reads of a verdict: five states, told apart by words and by shape, never by colour alone. */
export const STATES = {
  proven: { mark: '✔', title: 'Proven' },
  consistent: { mark: '◐', title: 'Consistent, and nothing pinned it' },
  'not-yet': { mark: '…', title: 'Signed, and not on the ledger yet' },
  'too-few': { mark: '△', title: 'Too few checkpoints, or stale ones' },
  'does-not-hold': { mark: '✕', title: 'Does not hold' },
} as const;
export type State = keyof typeof STATES;

const STATE_OF: Readonly<Partial<Record<Word, State>>> = {
  verified: 'proven',
  consistent: 'consistent',
  'no-batch-yet': 'not-yet',
  'no-decision-yet': 'not-yet',
  stale: 'too-few',
  'too-few-checkpoints': 'too-few',
  'roster-without-majority': 'too-few',
};

/** The state of a verdict. `isPinned`: whether the reader brought the pin; without one nothing is proven to them. */
export function stateOf(word: Word | null, isPinned: boolean): State {
  const state = word === null ? 'does-not-hold' : (STATE_OF[word] ?? 'does-not-hold');
  return state === 'proven' && !isPinned ? 'consistent' : state;
}
