/** Of a SHA-256. */
export const HASH_BYTES = 32;
/** Room of a list that begins. In bytes. */
const FIRST_BYTES = 256 * HASH_BYTES;

/** Hashes one after another in one piece of memory, which grows: an object for each would take many times as much. */
export class HashList {
  #bytes = new Uint8Array(0);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Takes a copy of the hash, and gives it. Throws `RangeError` on another length. */
  push(hash: Uint8Array): Uint8Array {
    if (hash.length !== HASH_BYTES) throw new RangeError(`a hash has ${HASH_BYTES} bytes`);
    const at = this.#size * HASH_BYTES;
    if (at === this.#bytes.length) {
      const grown = new Uint8Array(Math.max(FIRST_BYTES, 2 * at));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    this.#bytes.set(hash, at);
    this.#size++;
    return this.#bytes.subarray(at, at + HASH_BYTES);
  }

  /** All of them, joined. Owned by the list: do not change it. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size * HASH_BYTES);
  }
}
