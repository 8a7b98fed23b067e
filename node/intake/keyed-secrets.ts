import { createHmac, createSecretKey } from 'node:crypto';
import { utf8 } from '../../protocol/bytes.ts';
import { parseText } from '../../protocol/json/text.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json/value.ts';
import { openText, sealText } from '../keys/sealed-bytes.ts';

const SECRET_WORD = utf8('meridian/idempotency/1\0');

/** What is stored under one `Idempotency-Key` of an account. */
export class KeyedSecret {
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** HMAC-SHA-256 of a request's hash, in hex: from the hash the request could be guessed. */
  digest(request: string): string {
    return this.#derived(`request\0${request}`).toString('hex');
  }

  /** AES-256-GCM, base64url. */
  seal(kept: JsonObject): string {
    return Buffer.from(sealText(this.#sealingKey, JSON.stringify(kept))).toString('base64url');
  }

  /** Throws `RangeError` where the text is not what was sealed. */
  open(sealed: string): JsonObject {
    const text = openText(this.#sealingKey, Buffer.from(sealed, 'base64url'));
    const kept = text === undefined ? undefined : parseText(text);
    if (kept === undefined || !isJsonObject(kept)) throw new RangeError('what was kept of a request does not open');
    return kept;
  }

  get #sealingKey() {
    return createSecretKey(this.#derived('kept\0'));
  }

  #derived(word: string): Buffer {
    return createHmac('sha256', this.#secret).update(word).digest();
  }
}

/**
 * Hides what is stored for callers who may send a request again: names of members, of which a payload could be told
 * that was erased since. Nobody opens or guesses it without the node's key file and the caller's key, of which the
 * store has neither.
 */
export class KeyedSecrets {
  readonly #secret: Uint8Array;

  /** `payloadKey`: 32 bytes from the node's key file. */
  constructor(payloadKey: Uint8Array) {
    this.#secret = createHmac('sha256', payloadKey).update(SECRET_WORD).digest();
  }

  /** `key`: the caller's `Idempotency-Key`. */
  of(account: string, key: string): KeyedSecret {
    return new KeyedSecret(createHmac('sha256', this.#secret).update(`${account}\0${key}`).digest());
  }
}
