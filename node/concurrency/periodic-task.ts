import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Work that is done again and again. Its runs never overlap: a caller that asks for one during another shares that one.
 */
export class PeriodicTask<Result> implements AsyncDisposable {
  readonly #work: () => Promise<Result>;
  readonly #pauseMs: number;
  readonly #ending = new AbortController();
  #loop: Promise<void> | undefined;
  #current: Promise<Result> | undefined;

  /** `work` never rejects, and ends soon once `signal` is aborted. `pauseMs`: between two runs. */
  constructor(pauseMs: number, work: () => Promise<Result>) {
    this.#pauseMs = pauseMs;
    this.#work = work;
  }

  /** Aborted when no run is wanted any more. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Begins a run now, or after `delayMs`, and one after each pause. Further calls do nothing. */
  start(delayMs = 0): void {
    this.#loop ??= this.#run(delayMs);
  }

  /** The run under way, else a new one. */
  now(): Promise<Result> {
    this.#current ??= this.#work().finally(() => {
      this.#current = undefined;
    });
    return this.#current;
  }

  /** Waits for the run under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#loop;
    await this.#current;
  }

  async #run(delayMs: number): Promise<void> {
    if (delayMs > 0) await this.#pause(delayMs);
    while (!this.signal.aborted) {
      await this.now();
      await this.#pause(this.#pauseMs);
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.signal }).catch(() => undefined);
  }
}
