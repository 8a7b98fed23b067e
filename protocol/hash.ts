import { decodeHex, encodeHex, type Hashable, wellFormed } from './bytes.ts';

/** `sha256:` and 64 lower-case hex digits. */
export type Sha256Hash = string & { readonly __brand: 'Sha256Hash' };
/** `sha384:` and 96 lower-case hex digits: a ledger running hash. */
export type Sha384Hash = string & { readonly __brand: 'Sha384Hash' };

export const SHA256_PATTERN = '^sha256:[0-9a-f]{64}$';
export const SHA384_PATTERN = '^sha384:[0-9a-f]{96}$';

const SHA256 = new RegExp(SHA256_PATTERN);
const SHA384 = new RegExp(SHA384_PATTERN);
const PREFIX_LENGTH = 'sha256:'.length;
const SHA256_LENGTH = PREFIX_LENGTH + 64;

/** The part of a suite that writes hashes. */
interface HexDigest {
  sha256Hex(...parts: readonly Hashable[]): string;
}

export class HashFormatError extends Error {
  override readonly name = 'HashFormatError';
}

export function isSha256Hash(text: string): text is Sha256Hash {
  return SHA256.test(text);
}

export function isSha384Hash(text: string): text is Sha384Hash {
  return SHA384.test(text);
}

/** A text that is a hash. Throws `HashFormatError` where it is none. */
export function sha256Hash(text: string): Sha256Hash {
  if (isSha256Hash(text)) return text;
  throw new HashFormatError(`${text.slice(0, SHA256_LENGTH)} is no SHA-256 hash`);
}

/** The written form of a 32-byte digest. Throws `HashFormatError` on any other length. */
export function writeSha256(digest: Uint8Array): Sha256Hash {
  const text = `sha256:${encodeHex(digest)}`;
  if (!isOfDigest(text)) throw new HashFormatError('a SHA-256 digest has 32 bytes');
  return text;
}

/** The written form of a 48-byte digest. Throws `HashFormatError` on any other length. */
export function writeSha384(digest: Uint8Array): Sha384Hash {
  const text = `sha384:${encodeHex(digest)}`;
  if (!isSha384Hash(text)) throw new HashFormatError('a SHA-384 digest has 48 bytes');
  return text;
}

/** The bytes of a written hash, SHA-256 or SHA-384. */
export function hashBytes(hash: Sha256Hash | Sha384Hash): Uint8Array {
  return decodeHex(hash.slice(PREFIX_LENGTH));
}

/** The written form of the SHA-256 of the concatenated parts. */
export function hashParts(suite: HexDigest, ...parts: readonly Hashable[]): Sha256Hash {
  const text = `sha256:${suite.sha256Hex(...parts)}`;
  if (!isOfDigest(text)) throw new HashFormatError('a SHA-256 digest has 64 hex digits');
  return text;
}

/** Of what was written just now: that it is hex needs no look at each digit. */
function isOfDigest(text: string): text is Sha256Hash {
  return text.length === SHA256_LENGTH;
}

/** Hash of a signed statement: SHA-256 of its UTF-8 text. */
export function hashText(suite: HexDigest, text: string): Sha256Hash {
  return hashParts(suite, wellFormed(text));
}
