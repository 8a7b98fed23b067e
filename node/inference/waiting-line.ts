import { InferenceError } from './inference-error.ts';

export interface WaitingLineOptions {
  /** Places at the front. */
  readonly atOnce: number;
  /** Who may wait behind them. */
  readonly waiting: number;
}

/** First come, first served, and no more in the line than it has room for. */
export class WaitingLine {
  readonly #options: WaitingLineOptions;
  readonly #waiting = new Set<() => void>();
  #served = 0;

  constructor(options: WaitingLineOptions) {
    this.#options = options;
  }

  /** Who waits now. */
  get length(): number {
    return this.#waiting.size;
  }

  /**
   * A place at the front, until it is disposed. Rejects with `InferenceError` `busy` where the line is full, and with the
   * signal's reason where that is aborted first; then the place in the line is free at once.
   */
  async enter(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#served >= this.#options.atOnce) await this.#wait(signal);
    else this.#served++;
    return { [Symbol.dispose]: () => this.#leave() };
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size >= this.#options.waiting) {
      return Promise.reject(new InferenceError('busy', 'Too many wait for the model.'));
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const goAway = (): void => {
      this.#waiting.delete(come);
      reject(signal.reason);
    };
    const come = (): void => {
      signal.removeEventListener('abort', goAway);
      resolve();
    };
    signal.addEventListener('abort', goAway, { once: true });
    this.#waiting.add(come);
    return promise;
  }

  /** The place is handed on, never free in between: nobody can come before who waits. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#served--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
