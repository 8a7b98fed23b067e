import type { RangeOptions, Reads, Store } from './store.ts';

interface Asked extends PromiseWithResolvers<Uint8Array | undefined> {
  readonly key: string;
}

/**
 * Rows of a store for whoever reads many at a time: what is asked for within one turn of the event loop is one question to
 * the database, which costs little more than one row does. Nothing is remembered.
 */
export class GatheredReads implements Reads {
  readonly #store: Pick<Store, 'first' | 'getMany' | 'range'>;
  #asked: Asked[] = [];

  constructor(store: Pick<Store, 'first' | 'getMany' | 'range'>) {
    this.#store = store;
  }

  get(key: string): Promise<Uint8Array | undefined> {
    const asked: Asked = { key, ...Promise.withResolvers<Uint8Array | undefined>() };
    if (this.#asked.push(asked) === 1) setImmediate(() => void this.#read(this.#asked.splice(0)));
    return asked.promise;
  }

  first(options: RangeOptions): Promise<[key: string, value: Uint8Array] | undefined> {
    return this.#store.first(options);
  }

  range(options: RangeOptions): AsyncGenerator<[key: string, value: Uint8Array]> {
    return this.#store.range(options);
  }

  async #read(together: readonly Asked[]): Promise<void> {
    try {
      const keys = [...new Set(together.map(({ key }) => key))];
      const rows = await this.#store.getMany(keys);
      const found = new Map(keys.map((key, i) => [key, rows[i]]));
      for (const { key, resolve } of together) resolve(found.get(key));
    } catch (error) {
      for (const { reject } of together) reject(error);
    }
  }
}
