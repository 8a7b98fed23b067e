import type { Check } from './problem.ts';

/** What each of the five checks compares, for people; their names in the code stand behind. */
export const CHECK_WORDS: Readonly<Record<Check, string>> = {
  leafRederived: 'The fingerprint of the record, worked out anew from its text',
  payloadHashMatch: 'The payload is the one that was recorded',
  proofWalk: 'The record is in the group and the batch that its node signed',
  bundleBinding: 'Receipt, batch and ledger message belong to one another',
  sigValid: 'The signatures of its node hold',
};

/** What nobody can read out of a verdict. */
export const NOT_PROVEN: readonly string[] = [
  'that what was recorded is true, complete or allowed: the node signed what it was told',
  'that no other record is missing: gaps show in the numbers of its source alone',
  'who the persons behind account and record are: they stand under pseudonyms',
  'that any law is complied with',
];
