import { Held } from './held.ts';

/** All places are taken, and as many callers wait for one as may. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
}

export interface SemaphoreOptions {
  /** Holders at the same time. */
  readonly places: number;
  /** Callers that may wait for a place. Default: any number. */
  readonly waiting?: number;
}

/** Admits a bounded number of callers at once. A bounded number of others wait, first come, first served. */
export class Semaphore {
  readonly #maxWaiting: number;
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor({ places, waiting = Number.POSITIVE_INFINITY }: SemaphoreOptions) {
    this.#free = places;
    this.#maxWaiting = waiting;
  }

  /** Callers that wait now. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** A place at once, until it is disposed; undefined where none is free. Disposing it again changes nothing. */
  tryEnter(): Disposable | undefined {
    if (this.#free === 0) return undefined;
    this.#free--;
    return this.#place();
  }

  /**
   * A place, until it is disposed. Rejects with `BusyError` if too many callers wait, and with the signal's reason if
   * that is aborted first: the caller then waits no more.
   */
  async enter(signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted();
    const place = this.tryEnter();
    if (place !== undefined) return place;
    if (this.#waiting.size >= this.#maxWaiting) throw new BusyError('all places are taken, and too many wait');
    await this.#wait(signal);
    return this.#place();
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (signal === undefined) {
      this.#waiting.add(resolve);
      return promise;
    }
    const leave = (): void => {
      this.#waiting.delete(come);
      reject(signal.reason);
    };
    const come = (): void => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#waiting.add(come);
    return promise;
  }

  #place(): Disposable {
    return new Held(() => this.#pass());
  }

  /** A place is handed on and never free in between: no new caller overtakes one that waits. */
  #pass(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
