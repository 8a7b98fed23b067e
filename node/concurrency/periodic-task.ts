import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Work that is to be done again and again: its rounds never overlap, and anyone who asks for one shares that under way.
 */
export class PeriodicTask<Result> implements AsyncDisposable {
  readonly #work: () => Promise<Result>;
  readonly #pauseMs: number;
  readonly #ending = new AbortController();
  #loop: Promise<void> | undefined;
  #current: Promise<Result> | undefined;

  /** `round` never rejects, and ends soon once `signal` is aborted. `pauseMs`: between two rounds. */
  constructor(pauseMs: number, work: () => Promise<Result>) {
    this.#pauseMs = pauseMs;
    this.#work = work;
  }

  /** Aborted when no round is wanted any more. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Begins a round now, and one after each pause. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /** The round under way, else a new one. */
  now(): Promise<Result> {
    this.#current ??= this.#work().finally(() => {
      this.#current = undefined;
    });
    return this.#current;
  }

  /** Waits for the round under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#loop;
    await this.#current;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      await this.now();
      await sleep(this.#pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
