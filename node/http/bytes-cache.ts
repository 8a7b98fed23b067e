/** Keeps the bytes that were asked for last, up to so many in all. */
export class BytesCache {
  readonly #maxBytes: number;
  /** In order of use, the latest last. */
  readonly #entries = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes kept at present. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Uint8Array | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Makes room by dropping what was not asked for the longest. What is larger than all the room is not kept. */
  set(key: string, value: Uint8Array): void {
    this.#drop(key);
    if (value.byteLength > this.#maxBytes) return;
    this.#entries.set(key, value);
    this.#bytes += value.byteLength;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.byteLength ?? 0;
    this.#entries.delete(key);
  }
}
