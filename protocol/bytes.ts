/** Strict text ↔ bytes: a decoder either returns exactly the bytes the text stands for, or throws. */

const HEX = /^(?:[0-9a-f]{2})*$/;
const BASE64URL = /^[A-Za-z0-9_-]*$/;
const BASE64URL_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const HEX_PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const NOT_IN_ALPHABET = 255;
const BASE64URL_VALUES = new Uint8Array(128).fill(NOT_IN_ALPHABET);
for (let i = 0; i < BASE64URL_ALPHABET.length; i++) BASE64URL_VALUES[BASE64URL_ALPHABET.charCodeAt(i)] = i;

/** What is hashed: bytes, or well-formed text, which stands for its UTF-8 bytes. */
export type Hashable = Uint8Array | string;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

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
  if (!HEX.test(text)) throw new EncodingError('not lower-case hex');
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = (hexDigit(text, 2 * i) << 4) | hexDigit(text, 2 * i + 1);
  return bytes;
}

/** The value of a digit that is one: `0` is 48, `a` is 97. */
function hexDigit(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit < 97 ? unit - 48 : unit - 87;
}

/** Base64url without padding (RFC 4648 §5). */
export function encodeBase64url(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(i, i + 3);
    const left = bytes.length - i;
    text += BASE64URL_ALPHABET.charAt(a >> 2) + BASE64URL_ALPHABET.charAt(((a & 3) << 4) | (b >> 4));
    if (left > 1) text += BASE64URL_ALPHABET.charAt(((b & 15) << 2) | (c >> 6));
    if (left > 2) text += BASE64URL_ALPHABET.charAt(c & 63);
  }
  return text;
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

/** Equality of public bytes (hashes, roots). Not constant-time: never use it on a secret. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
