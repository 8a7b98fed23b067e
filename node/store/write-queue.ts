import type { Operation } from './operation.ts';

interface Waiting {
  readonly operations: readonly Operation[];
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * One write at a time: what arrives while one is being synced becomes the next one together, under one sync. So when a
 * write fails, no later one can have been acknowledged on top of it.
 */
export class WriteQueue {
  readonly #apply: (operations: readonly Operation[]) => Promise<void>;
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;

  /** `apply` writes atomically. */
  constructor(apply: (operations: readonly Operation[]) => Promise<void>) {
    this.#apply = apply;
  }

  write(operations: readonly Operation[]): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ operations, resolve, reject });
    this.#running ??= this.#run();
    return promise;
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const together = this.#waiting;
      this.#waiting = [];
      try {
        await this.#apply(together.flatMap(({ operations }) => operations));
        for (const { resolve } of together) resolve();
      } catch (error) {
        for (const { reject } of together) reject(error);
      }
    }
    this.#running = undefined;
  }
}
