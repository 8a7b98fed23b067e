import type { EntryType } from '../contract.ts';

/** `P` and `E`, or `person` and `enterprise`: the XML and the CSV file have them the other way round. */
const TYPES: Readonly<Record<string, EntryType>> = {
  p: 'individual',
  person: 'individual',
  e: 'entity',
  enterprise: 'entity',
};

/** What the first of two words that is known says of an entry. */
export function euType(...words: readonly string[]): EntryType {
  for (const word of words) {
    const type = TYPES[word.trim().toLowerCase()];
    if (type !== undefined) return type;
  }
  return 'unknown';
}
