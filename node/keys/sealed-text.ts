import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import { concatBytes, decodeUtf8 } from '../../protocol/bytes.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM under a key of 32 bytes and a random nonce: nonce ‖ ciphertext ‖ tag. */
export function sealText(key: KeyObject, text: string): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce);
  return concatBytes(nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag());
}

/** Undefined where the bytes are not what was sealed under the key. */
export function openText(key: KeyObject, sealed: Uint8Array): string | undefined {
  const tagAt = sealed.length - TAG_BYTES;
  if (tagAt < NONCE_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(tagAt));
  try {
    return decodeUtf8(concatBytes(decipher.update(sealed.subarray(NONCE_BYTES, tagAt)), decipher.final()));
  } catch {
    return undefined;
  }
}
