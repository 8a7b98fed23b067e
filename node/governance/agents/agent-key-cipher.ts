import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { concatBytes, utf8 } from '../../../protocol/bytes.ts';
import { SEED_BYTES } from '../../../protocol/suite/suite.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_WORD = utf8('meridian/agent-key/1');
const SEALED_BYTES = NONCE_BYTES + SEED_BYTES + TAG_BYTES;

export class AgentKeyDamagedError extends Error {
  override readonly name = 'AgentKeyDamagedError';
}

/**
 * Encrypts the seeds of agents' keys at rest: AES-256-GCM under HKDF-SHA-256 of the node's payload key. A sealed seed
 * is nonce ‖ ciphertext ‖ tag, and bound to the row that it stands in.
 */
export class AgentKeyCipher {
  readonly #key: KeyObject;

  /** `payloadKey`: 32 bytes from the node's key file. */
  constructor(payloadKey: Uint8Array) {
    const derived = hkdfSync('sha256', payloadKey, new Uint8Array(), KEY_WORD, KEY_BYTES);
    this.#key = createSecretKey(Buffer.from(derived));
  }

  /** `row`: the key of the row. */
  seal(row: string, seed: Uint8Array): Uint8Array {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce);
    cipher.setAAD(utf8(row));
    return concatBytes(nonce, cipher.update(seed), cipher.final(), cipher.getAuthTag());
  }

  /** Throws `AgentKeyDamagedError` where the bytes are not what was sealed for this row. */
  open(row: string, sealed: Uint8Array): Uint8Array {
    if (sealed.length !== SEALED_BYTES) throw new AgentKeyDamagedError(`${row} is cut`);
    const nonce = sealed.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(utf8(row));
    decipher.setAuthTag(sealed.subarray(SEALED_BYTES - TAG_BYTES));
    try {
      const body = sealed.subarray(NONCE_BYTES, SEALED_BYTES - TAG_BYTES);
      return concatBytes(decipher.update(body), decipher.final());
    } catch {
      throw new AgentKeyDamagedError(`${row} does not open`);
    }
  }
}
