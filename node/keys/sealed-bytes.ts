import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import { concatBytes, decodeUtf8, utf8 } from '../../protocol/bytes.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** How much longer sealed bytes are than what they hold. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES;

const UNBOUND = new Uint8Array();

/** AES-256-GCM under a key of 32 bytes and a random nonce: nonce ‖ ciphertext ‖ tag. It opens beside `bound` alone. */
export function sealBytes(key: KeyObject, bytes: Uint8Array, bound: Uint8Array = UNBOUND): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(bound);
  return concatBytes(nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag());
}

/** Undefined where the bytes are not what was sealed under the key and beside `bound`. */
export function openBytes(key: KeyObject, sealed: Uint8Array, bound: Uint8Array = UNBOUND): Uint8Array | undefined {
  if (sealed.length < SEAL_BYTES) return undefined;
  const tagAt = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(bound).setAuthTag(sealed.subarray(tagAt));
  try {
    return concatBytes(decipher.update(sealed.subarray(NONCE_BYTES, tagAt)), decipher.final());
  } catch {
    return undefined;
  }
}

export function sealText(key: KeyObject, text: string): Uint8Array {
  return sealBytes(key, utf8(text));
}

/** Undefined where the bytes are no text that was sealed under the key. */
export function openText(key: KeyObject, sealed: Uint8Array): string | undefined {
  const bytes = openBytes(key, sealed);
  return bytes && decodeUtf8(bytes);
}
