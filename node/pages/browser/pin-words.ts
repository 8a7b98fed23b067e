import type { Sha256Hash } from '../../../protocol/hash.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { areWords, readFingerprintWords } from '../../../protocol/verdict/fingerprint-words.ts';

/** The fingerprint that 24 words stand for. Throws where they are none. */
export function readWords(text: string): Sha256Hash {
  if (!areWords(text)) throw new TypeError('It has the form sha256: and 64 digits 0-9a-f, or is 24 words.');
  return readFingerprintWords(nobleSuite, text);
}
