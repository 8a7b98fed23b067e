import { Semaphore } from '../concurrency/semaphore.ts';
import type { RangeOptions, Reads, Store } from './store.ts';

interface Asked extends PromiseWithResolvers<Uint8Array | undefined> {
  readonly key: string;
}

/**
 * Anyone who asked is answered so many in one turn of the event loop: what they do with a row takes some tenths of a
 * millisecond.
 */
const ANSWERED_TOGETHER = 16;
/** Ranges whose first row is sought at the same time, each by a thread of the few that there are. */
const SOUGHT_TOGETHER = 8;

/**
 * Rows of a store for anyone who reads many at a time: what is asked for within one turn of the event loop is one
 * question to the database, which costs little more than one row does. However many ask, a turn stays short. Nothing is
 * remembered.
 */
export class GatheredReads implements Reads {
  readonly #store: Pick<Store, 'first' | 'getMany' | 'range'>;
  readonly #seeking = new Semaphore({ places: SOUGHT_TOGETHER });
  #asked: Asked[] = [];
  readonly #answers: (() => void)[] = [];

  constructor(store: Pick<Store, 'first' | 'getMany' | 'range'>) {
    this.#store = store;
  }

  get(key: string): Promise<Uint8Array | undefined> {
    const asked: Asked = { key, ...Promise.withResolvers<Uint8Array | undefined>() };
    if (this.#asked.push(asked) === 1) setImmediate(() => void this.#read(this.#asked.splice(0)));
    return asked.promise;
  }

  async first(options: RangeOptions): Promise<[key: string, value: Uint8Array] | undefined> {
    using _place = await this.#seeking.enter();
    return await this.#store.first(options);
  }

  range(options: RangeOptions): AsyncGenerator<[key: string, value: Uint8Array]> {
    return this.#store.range(options);
  }

  async #read(together: readonly Asked[]): Promise<void> {
    try {
      const keys = [...new Set(together.map(({ key }) => key))];
      const rows = await this.#store.getMany(keys);
      const found = new Map(keys.map((key, i) => [key, rows[i]]));
      this.#answer(
        together.map(
          ({ key, resolve }) =>
            () =>
              resolve(found.get(key)),
        ),
      );
    } catch (error) {
      this.#answer(
        together.map(
          ({ reject }) =>
            () =>
              reject(error),
        ),
      );
    }
  }

  #answer(answers: readonly (() => void)[]): void {
    const isBusy = this.#answers.length > 0;
    this.#answers.push(...answers);
    if (!isBusy) this.#answerSome();
  }

  #answerSome(): void {
    for (const answer of this.#answers.splice(0, ANSWERED_TOGETHER)) answer();
    if (this.#answers.length > 0) setImmediate(() => this.#answerSome());
  }
}
