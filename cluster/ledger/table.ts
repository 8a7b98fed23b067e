import type { Level } from 'level';
import { encodeRow, rowEncoding } from './row-encoding.ts';

export type Database = Level<string, string>;

/** One row to be written, as `level` takes it in a batch. */
export interface Put {
  type: 'put';
  key: string;
  value: string;
}

/** A stretch of keys; a missing end is open. */
export interface KeyRange {
  gte?: string;
  lte?: string;
  reverse?: boolean;
  limit?: number;
}

/** Wide enough for any nanosecond time and any sequence number, so that keys sort as numbers do. */
const NUMBER_DIGITS = 20;
const AFTER_ALL_KEYS = '\uffff';

export const numberKey = (value: bigint | number): string => value.toString().padStart(NUMBER_DIGITS, '0');

/** The rows of one kind, under one prefix of the database. */
export class LedgerTable<T> {
  readonly #database: Database;
  readonly #prefix: string;
  readonly #encoding = rowEncoding<T>();

  constructor(database: Database, name: string) {
    this.#database = database;
    this.#prefix = `${name}!`;
  }

  put(key: string, row: T): Put {
    return { type: 'put', key: this.#prefix + key, value: encodeRow(row) };
  }

  async get(key: string): Promise<T | undefined> {
    // A missing key is undefined at run time, which the types of `level` 10 leave out.
    const value: string | undefined = await this.#database.get(this.#prefix + key);
    return value === undefined ? undefined : this.#encoding.decode(value);
  }

  /** Many rows in one read, in the order of their keys. */
  async getMany(keys: string[]): Promise<(T | undefined)[]> {
    const values: (string | undefined)[] = await this.#database.getMany(keys.map((key) => this.#prefix + key));
    return values.map((value) => (value === undefined ? undefined : this.#encoding.decode(value)));
  }

  /** Rows in key order. Reads as they are asked for: memory does not grow with the range. */
  async *rows(range: KeyRange = {}): AsyncGenerator<T> {
    const { gte = '', lte = AFTER_ALL_KEYS, reverse = false, limit = -1 } = range;
    const bounds = { gte: this.#prefix + gte, lte: this.#prefix + lte, reverse, limit };
    for await (const value of this.#database.values(bounds)) yield this.#encoding.decode(value);
  }

  async first(range: KeyRange): Promise<T | undefined> {
    for await (const row of this.rows({ ...range, limit: 1 })) return row;
    return undefined;
  }
}
