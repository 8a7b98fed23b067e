/** Strict text ↔ bytes: a decoder either returns exactly the bytes the text stands for, or throws. */

const BASE64URL = /^[A-Za-z0-9_-]*$/;
const BASE64URL_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const HEX_PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const NOT_IN_ALPHABET = 255;
const HEX_VALUES = new Uint8Array(128).fill(NOT_IN_ALPHABET);
for (let i = 0; i < 16; i++) HEX_VALUES[i.toString(16).charCodeAt(0)] = i;
const BASE64URL_VALUES = new Uint8Array(128).fill(NOT_IN_ALPHABET);
for (let i = 0; i < BASE64URL_ALPHABET.length; i++) BASE64URL_VALUES[BASE64URL_ALPHABET.charCodeAt(i)] = i;

/** What is hashed: bytes, or well-formed text, which stands for its UTF-8 bytes. */
export type Hashable = Uint8Array | string;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

export class EncodingError extends Error {
  override readonly name = 'EncodingError';
}

/** UTF-8 bytes of a well-formed string. Throws `EncodingError` on a lone surrogate, which UTF-8 cannot hold. */
export function utf8(text: string): Uint8Array {
  return encoder.encode(wellFormed(text));
}

/** The text itself. Throws `EncodingError` on a lone surrogate, for which UTF-8 encoders put another character. */
export function wellFormed(text: string): string {
  if (!text.isWellFormed()) throw new EncodingError('text holds a lone surrogate');
  return text;
}

/** The text of UTF-8 bytes. Throws `EncodingError` where the bytes are not well-formed UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new EncodingError('bytes are not well-formed UTF-8');
  }
}

export function encodeHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += HEX_PAIRS[byte];
  return text;
}

/** Bytes of lower-case hex. Throws `EncodingError` on upper case, a prefix, an odd length or any other character. */
export function decodeHex(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length >> 1);
  let seen = 0;
  for (let i = 0; i < bytes.length; i++) {
    const high = HEX_VALUES[text.charCodeAt(2 * i)] ?? NOT_IN_ALPHABET;
    const low = HEX_VALUES[text.charCodeAt(2 * i + 1)] ?? NOT_IN_ALPHABET;
    seen |= high | low;
    bytes[i] = (high << 4) | low;
  }
  if (seen > 15 || text.length % 2 !== 0) throw new EncodingError('not lower-case hex');
  return bytes;
}

/** Base64url without padding (RFC 4648 §5). */
export function encodeBase64url(bytes: Uint8Array): string {
  const units = new Uint8Array(Math.ceil((bytes.length * 4) / 3));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const byte of bytes) {
    bits = ((bits & 63) << 8) | byte;
    for (held += 8; held >= 6; held -= 6) units[at++] = BASE64URL_ALPHABET.charCodeAt((bits >> (held - 6)) & 63);
  }
  if (held > 0) units[at] = BASE64URL_ALPHABET.charCodeAt((bits << (6 - held)) & 63);
  return decoder.decode(units);
}

/**
 * Bytes of unpadded base64url (RFC 4648 §5). Throws `EncodingError` on padding, another alphabet, an impossible length,
 * or non-zero trailing bits (so that every byte string has exactly one text).
 */
export function decodeBase64url(text: string): Uint8Array {
  if (!BASE64URL.test(text) || text.length % 4 === 1) throw new EncodingError('not unpadded base64url');
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    bits = ((bits & 0xffff) << 6) | (BASE64URL_VALUES[text.charCodeAt(i)] ?? NOT_IN_ALPHABET);
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes[at++] = (bits >> held) & 255;
    }
  }
  if ((bits & ((1 << held) - 1)) !== 0) throw new EncodingError('base64url with stray trailing bits');
  return bytes;
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Whether bytes begin with the byte order mark of UTF-8 (RFC 3629 §6), as some editors write it. */
export function beginsWithByteOrderMark(bytes: Uint8Array): boolean {
  return BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte);
}

/** Equality of public bytes (hashes, roots). Not constant-time: never use it on a secret. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
