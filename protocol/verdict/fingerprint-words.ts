import { wordlist } from '@scure/bip39/wordlists/english';
import { hashBytes, type Sha256Hash, writeSha256 } from '../hash.ts';
import type { Suite } from '../suite/suite.ts';

/** Bits that one word of the list stands for, of 2,048. */
const WORD_BITS = 11;
const HASH_BYTES = 32;
/** 256 bits and 8 of a checksum. */
export const FINGERPRINT_WORDS = 24;

/** Words that are none of a fingerprint. The message says which, or that they do not go together. */
export class FingerprintWordsError extends Error {
  override readonly name = 'FingerprintWordsError';
}

/** A fingerprint as 24 words, to be read out and written down: BIP-39's English list and checksum. */
export function fingerprintWords(suite: Suite, fingerprint: Sha256Hash): readonly string[] {
  const bytes = hashBytes(fingerprint);
  const bits = bitsOf([...bytes, checksum(suite, bytes)]);
  return Array.from({ length: FINGERPRINT_WORDS }, (_, i) => {
    return wordlist[Number.parseInt(bits.slice(i * WORD_BITS, (i + 1) * WORD_BITS), 2)] ?? '';
  });
}

/**
 * The fingerprint that 24 words stand for, in any case and with any space between them. Throws `FingerprintWordsError`
 * where one is not of the list, or the checksum says that one is another.
 */
export function readFingerprintWords(suite: Suite, text: string): Sha256Hash {
  const words = text.trim().toLowerCase().split(/\s+/);
  if (words.length !== FINGERPRINT_WORDS) {
    throw new FingerprintWordsError(`a fingerprint is ${FINGERPRINT_WORDS} words, and these are ${words.length}`);
  }
  const bits = words.map((word, i) => {
    const place = wordlist.indexOf(word);
    if (place === -1) throw new FingerprintWordsError(`word ${i + 1} is not of the list`);
    return place.toString(2).padStart(WORD_BITS, '0');
  });
  const all = Uint8Array.from(bits.join('').match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
  const bytes = all.subarray(0, HASH_BYTES);
  if (checksum(suite, bytes) !== all[HASH_BYTES]) {
    throw new FingerprintWordsError('the words do not go together: one of them is another, or stands elsewhere');
  }
  return writeSha256(bytes);
}

/** Whether a text has the form of words, so that what is wrong with them can be said. */
export function areWords(text: string): boolean {
  return /^\s*[a-z]+(?:\s+[a-z]+)+\s*$/i.test(text);
}

function checksum(suite: Suite, bytes: Uint8Array): number {
  return suite.sha256(bytes)[0] ?? 0;
}

function bitsOf(bytes: readonly number[]): string {
  return bytes.map((byte) => byte.toString(2).padStart(8, '0')).join('');
}
