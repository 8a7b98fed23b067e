import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { concatBytes, decodeUtf8, utf8 } from '../../protocol/bytes.ts';
import { type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_WORD = utf8('meridian/payment-held/1\0');
const REQUEST_WORD = utf8('meridian/payment-request/1\0');

export class PaymentDamagedError extends Error {
  override readonly name = 'HeldDamagedError';
}

/**
 * Encrypts what is held for payments at rest: answers hold what payloads do. AES-256-GCM under a key for each row,
 * SHA-256(word ‖ node's payload key ‖ key of the row). A sealed text is nonce ‖ ciphertext ‖ tag.
 */
export class PaymentCipher {
  readonly #payloadKey: Uint8Array;
  readonly #requestKey: Uint8Array;

  /** `payloadKey`: 32 bytes from the node's key file. */
  constructor(payloadKey: Uint8Array) {
    this.#payloadKey = payloadKey;
    this.#requestKey = createHmac('sha256', payloadKey).update(REQUEST_WORD).digest();
  }

  /**
   * HMAC-SHA-256 of a request's hash, which is all of it that is stored: a request can be guessed from its hash, and
   * from this not without the node's payload key.
   */
  digest(request: Sha256Hash): Sha256Hash {
    return writeSha256(createHmac('sha256', this.#requestKey).update(request).digest());
  }

  /** `row`: the key of the row. */
  seal(row: string, text: string): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#keyOf(row), nonce);
    return concatBytes(nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag());
  }

  /** Throws `HeldDamagedError` where the bytes are not what was sealed for this row. */
  open(row: string, sealed: Uint8Array): string {
    const tagAt = sealed.length - TAG_BYTES;
    if (tagAt < NONCE_BYTES) throw new PaymentDamagedError(`${row} is cut`);
    const nonce = sealed.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#keyOf(row), nonce, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(sealed.subarray(tagAt));
    try {
      return decodeUtf8(concatBytes(decipher.update(sealed.subarray(NONCE_BYTES, tagAt)), decipher.final()));
    } catch {
      throw new PaymentDamagedError(`${row} does not open`);
    }
  }

  #keyOf(row: string): KeyObject {
    return createSecretKey(hash('sha256', Buffer.concat([KEY_WORD, this.#payloadKey, utf8(row)]), 'hex'), 'hex');
  }
}
