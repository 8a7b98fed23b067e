/** What one loop waits for. A notification while nothing waits is remembered, once. */
export class AutoResetEvent {
  #isSet = false;
  #notify: (() => void) | undefined;

  notify(): void {
    this.#isSet = true;
    this.#notify?.();
  }

  /** Resolves at the next notification, after the milliseconds, or when the signal ends. Leaves no timer behind. */
  async wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (!this.#isSet && signal?.aborted !== true) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, milliseconds);
      const abort = (): void => resolve();
      this.#notify = resolve;
      signal?.addEventListener('abort', abort, { once: true });
      try {
        await promise;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.#notify = undefined;
      }
    }
    this.#isSet = false;
  }
}
