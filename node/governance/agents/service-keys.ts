import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import { SEED_BYTES, type Signer } from '../../../protocol/suite/suite.ts';
import { nativeSigner } from '../../keys/native-suite.ts';
import type { DuePurges } from '../../store/due-purges.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { AgentKeyDamagedError, type AgentKeyCipher } from './agent-key-cipher.ts';
import { agentKeyParts, agentKeyTable } from './agent-tables.ts';

/** Signers kept ready; the others are decrypted again when their agent speaks again. */
const MAX_CACHED_SIGNERS = 1_000;

/** A fresh key that no agent has yet, and the row that keeps it. */
export interface FreshKey {
  readonly signer: Signer;
  readonly row: Operation;
}

/** The keys that the node holds for agents. Private halves are in clear in this process only. */
export class ServiceKeys {
  readonly #store: Store;
  readonly #cipher: AgentKeyCipher;
  readonly #purges: Pick<DuePurges, 'end' | 'noteEnded'>;
  readonly #cache = new LRUCache<Sha256Hash, Signer>({ max: MAX_CACHED_SIGNERS });

  constructor(store: Store, cipher: AgentKeyCipher, purges: Pick<DuePurges, 'end' | 'noteEnded'>) {
    this.#store = store;
    this.#cipher = cipher;
    this.#purges = purges;
  }

  make(agentId: string): FreshKey {
    const seed = randomBytes(SEED_BYTES);
    const signer = nativeSigner(seed);
    const parts = agentKeyParts(agentId, signer.keyId);
    const sealed = this.#cipher.seal(agentKeyTable.key(...parts), seed);
    seed.fill(0);
    return { signer, row: agentKeyTable.put(parts, sealed) };
  }

  /** Undefined where the node does not hold the key (any more). Throws `AgentKeyDamagedError`. */
  async signer(agentId: string, keyId: Sha256Hash): Promise<Signer | undefined> {
    const cached = this.#cache.get(keyId);
    if (cached !== undefined) return cached;
    const parts = agentKeyParts(agentId, keyId);
    const sealed = await agentKeyTable.get(this.#store, ...parts);
    if (sealed === undefined) return undefined;
    const signer = openSigner(this.#cipher, agentKeyTable.key(...parts), keyId, sealed);
    this.#cache.set(keyId, signer);
    return signer;
  }

  /** The end of the key's private half, for the write of the record that ends the key. */
  end(agentId: string, keyId: Sha256Hash): readonly Operation[] {
    return this.#purges.end([agentKeyTable.key(...agentKeyParts(agentId, keyId))]);
  }

  /** Once that is on the disk. */
  noteEnded(keyId: Sha256Hash): void {
    this.#cache.delete(keyId);
    this.#purges.noteEnded();
  }
}

/** The signer of a sealed seed. Throws `AgentKeyDamagedError` where it is not the key of this id. */
export function openSigner(cipher: AgentKeyCipher, row: string, keyId: Sha256Hash, sealed: Uint8Array): Signer {
  const seed = cipher.open(row, sealed);
  const signer = nativeSigner(seed);
  seed.fill(0);
  if (signer.keyId === keyId) return signer;
  throw new AgentKeyDamagedError(`${row} holds another key`);
}
