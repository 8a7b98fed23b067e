import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { utf8 } from '../../../protocol/bytes.ts';
import { SEED_BYTES } from '../../../protocol/suite/suite.ts';
import { openBytes, SEAL_BYTES, sealBytes } from '../../keys/sealed-bytes.ts';

const KEY_BYTES = 32;
const KEY_WORD = utf8('meridian/agent-key/1');

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
    return sealBytes(this.#key, seed, utf8(row));
  }

  /** Throws `AgentKeyDamagedError` where the bytes are not what was sealed for this row. */
  open(row: string, sealed: Uint8Array): Uint8Array {
    if (sealed.length !== SEED_BYTES + SEAL_BYTES) throw new AgentKeyDamagedError(`${row} is cut`);
    const seed = openBytes(this.#key, sealed, utf8(row));
    if (seed === undefined) throw new AgentKeyDamagedError(`${row} does not open`);
    return seed;
  }
}
