import type { Static, TSchema } from 'typebox';
import { decodeUtf8, utf8, wellFormed } from '../../protocol/bytes.ts';
import { Compile } from '../../protocol/shape-check.ts';
import type { Operation } from './operation.ts';
import type { RangeOptions, Reads } from './store.ts';

/** How a table's values are written. Reading a value that is not of the form throws. */
export interface Codec<Value> {
  encode(value: Value): Uint8Array;
  decode(bytes: Uint8Array): Value;
}

export const bytesCodec: Codec<Uint8Array> = { encode: (value) => value, decode: (bytes) => bytes };
export const textCodec: Codec<string> = { encode: (text) => Buffer.from(wellFormed(text)), decode: decodeUtf8 };
export const numberCodec: Codec<number> = {
  encode: (value) => Buffer.from(String(value), 'latin1'),
  decode: (bytes) => {
    const value = Number(decodeUtf8(bytes));
    if (!Number.isSafeInteger(value)) throw new RangeError('a stored number is not a safe integer');
    return value;
  },
};

/** Digits of a number in a key: enough for every safe integer, so that text order is number order. */
const KEY_DIGITS = 16;
/** Sorts after every character that a key part may hold. */
const AFTER_ALL = '\u{10ffff}';

export type KeyPart = string | number;

/** Rows of one kind under one prefix. Key parts are joined by `/`; a text part must not hold one. */
export class Table<Value> {
  readonly name: string;
  readonly #codec: Codec<Value>;

  constructor(name: string, codec: Codec<Value>) {
    this.name = name;
    this.#codec = codec;
  }

  /** The same rows, their values read and written another way. */
  by<Other>(codec: Codec<Other>): Table<Other> {
    return new Table(this.name, codec);
  }

  key(...parts: readonly KeyPart[]): string {
    let key = this.name;
    for (const part of parts) key += `/${typeof part === 'number' ? String(part).padStart(KEY_DIGITS, '0') : part}`;
    return key;
  }

  put(parts: readonly KeyPart[], value: Value): Operation {
    return { type: 'put', key: this.key(...parts), value: this.#codec.encode(value) };
  }

  del(...parts: readonly KeyPart[]): Operation {
    return { type: 'del', key: this.key(...parts) };
  }

  /** Value of a row's bytes. Throws where they are not of the table's form. */
  decode(bytes: Uint8Array): Value {
    return this.#codec.decode(bytes);
  }

  async get(store: Pick<Reads, 'get'>, ...parts: readonly KeyPart[]): Promise<Value | undefined> {
    const bytes = await store.get(this.key(...parts));
    return bytes === undefined ? undefined : this.#codec.decode(bytes);
  }

  /** Rows below a prefix of key parts, in key order. Yields the remaining key parts and the value. */
  async *under(
    store: Reads,
    parts: readonly KeyPart[],
    options: {
      readonly from?: KeyPart;
      readonly after?: KeyPart;
      readonly before?: KeyPart;
      readonly reverse?: boolean;
      readonly limit?: number;
    } = {},
  ): AsyncGenerator<[parts: string[], value: Value]> {
    const prefix = `${this.key(...parts)}/`;
    const bounds: RangeOptions = {
      ...(options.after === undefined
        ? { gte: options.from === undefined ? prefix : this.key(...parts, options.from) }
        : { gt: this.key(...parts, options.after) + AFTER_ALL }),
      lt: options.before === undefined ? prefix + AFTER_ALL : this.key(...parts, options.before),
    };
    const range = { ...bounds, ...pick(options) };
    for await (const [key, bytes] of store.range(range)) {
      yield [key.slice(prefix.length).split('/'), this.#codec.decode(bytes)];
    }
  }

  /** The last row below a prefix whose next key part is at most `limit` (none given: the very last). */
  async last(
    store: Reads,
    parts: readonly KeyPart[],
    atMost?: number,
  ): Promise<[part: string, value: Value] | undefined> {
    const prefix = `${this.key(...parts)}/`;
    const lte = atMost === undefined ? prefix + AFTER_ALL : this.key(...parts, atMost);
    const row = await store.first({ gte: prefix, lte, reverse: true });
    return row === undefined ? undefined : [row[0].slice(prefix.length), this.#codec.decode(row[1])];
  }
}

/** A table whose values are JSON of a shape. Reading a row of another shape throws `TypeError`. */
export function jsonTable<Shape extends TSchema>(name: string, shape: Shape): Table<Static<Shape>> {
  const check = Compile(shape);
  return new Table(name, {
    encode: (value) => utf8(JSON.stringify(value)),
    decode: (bytes) => {
      const value: unknown = JSON.parse(decodeUtf8(bytes));
      if (!check.Check(value)) throw new TypeError('a stored row has another shape');
      return value;
    },
  });
}

function pick(options: { readonly reverse?: boolean; readonly limit?: number }): RangeOptions {
  return {
    ...(options.reverse === undefined ? {} : { reverse: options.reverse }),
    ...(options.limit === undefined ? {} : { limit: options.limit }),
  };
}
