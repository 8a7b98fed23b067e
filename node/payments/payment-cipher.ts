import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';
import { utf8 } from '../../protocol/bytes.ts';
import { type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';
import { openText, sealText } from '../keys/sealed-bytes.ts';

const KEY_WORD = utf8('meridian/payment-held/1\0');
const REQUEST_WORD = utf8('meridian/payment-request/1\0');

export class PaymentDamagedError extends Error {
  override readonly name = 'HeldDamagedError';
}

/**
 * Encrypts what is held for payments at rest: answers hold what payloads do. AES-256-GCM under a key for each row,
 * SHA-256(word ‖ node's payload key ‖ key of the row).
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
    return sealText(this.#keyOf(row), text);
  }

  /** Throws `HeldDamagedError` where the bytes are not what was sealed for this row. */
  open(row: string, sealed: Uint8Array): string {
    const text = openText(this.#keyOf(row), sealed);
    if (text === undefined) throw new PaymentDamagedError(`${row} does not open`);
    return text;
  }

  #keyOf(row: string): KeyObject {
    return createSecretKey(hash('sha256', Buffer.concat([KEY_WORD, this.#payloadKey, utf8(row)]), 'hex'), 'hex');
  }
}
