/** A bell that one loop waits for. Rung while nobody waits, it is remembered once. */
export class Wake {
  #rung = false;
  #ring: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#ring?.();
  }

  /** Resolves at the next ring, after the milliseconds, or when the signal ends. Leaves no timer behind. */
  async wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (!this.#rung && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, milliseconds);
      const abort = (): void => resolve();
      this.#ring = resolve;
      signal.addEventListener('abort', abort, { once: true });
      try {
        await promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
        this.#ring = undefined;
      }
    }
    this.#rung = false;
  }
}
