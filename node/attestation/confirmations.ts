/** Callers who wait for a record of this node to be confirmed. Costs nothing while nobody waits. */
export class Confirmations {
  readonly #waiting = new Map<number, Set<() => void>>();

  /** Records `first` … `first + size - 1` are confirmed. */
  note(first: number, size: number): void {
    for (const [seq, waiters] of this.#waiting) {
      if (seq < first || seq >= first + size) continue;
      this.#waiting.delete(seq);
      for (const wake of waiters) wake();
    }
  }

  /** Resolves when the record `seq` is confirmed, the time is up, or the signal ends the wait. */
  wait(seq: number, milliseconds: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const waiters = this.#waiting.get(seq) ?? new Set();
      this.#waiting.set(seq, waiters);
      const finish = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', finish);
        waiters.delete(finish);
        if (waiters.size === 0) this.#waiting.delete(seq);
        resolve();
      };
      const timer = setTimeout(finish, milliseconds);
      signal.addEventListener('abort', finish);
      waiters.add(finish);
    });
  }
}
