/** Bytes that do not follow LevelDB's formats. */
export class FormatError extends Error {
  override readonly name = 'FormatError';
}

/**
 * Reads LevelDB's encodings from front to back, and accepts only the shortest form of a number, the one LevelDB writes.
 * Every method throws `FormatError` where the bytes end too early or say something else.
 */
export class FormatReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  /** What is left, without moving on. */
  rest(): Buffer {
    return this.#bytes.subarray(this.#at);
  }

  take(length: number): Buffer {
    if (length > this.left) throw new FormatError('bytes end inside a value');
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return taken;
  }

  /**
   * A base-128 number, least significant group first. One beyond 2^53 - 1 is refused: no size or counter gets there.
   */
  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const [group = 0] = this.take(1);
      value += (group & 127) * scale;
      if (!Number.isSafeInteger(value)) throw new FormatError('a number is beyond 2^53');
      if (group >= 128) continue;
      if (group === 0 && scale > 1) throw new FormatError('a number is not in its shortest form');
      return value;
    }
  }

  lengthPrefixed(): Buffer {
    return this.take(this.varint());
  }

  handle(): BlockHandle {
    return { offset: this.varint(), size: this.varint() };
  }
}

/** Where a block lies in a table: its contents are `size` bytes, the trailer comes after them. */
export interface BlockHandle {
  readonly offset: number;
  readonly size: number;
}
