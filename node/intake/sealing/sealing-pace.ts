/** Batches that are sealed ahead of the last that was named on the ledger; past them one a `SLOW_INTERVAL_MS`. */
const MAX_AHEAD = 4;
/** In milliseconds: a ledger that was away for a day is caught up with in about an hour. */
const SLOW_INTERVAL_MS = 60_000;

/** How far a node seals ahead of what the ledger shows (protocol §2). */
export class SealingPace {
  #named: number;
  /** Of the monotonic clock. */
  #sealedAt = Number.NEGATIVE_INFINITY;
  #closed = false;
  #wake: (() => void) | undefined;

  /** `named`: the last batch that is named. Infinity: nothing waits. */
  constructor(named: number) {
    this.#named = named;
  }

  /** Milliseconds until the batch after `batch` may be sealed; 0 at once. */
  waitMs(batch: number): number {
    if (batch < this.#named + MAX_AHEAD) return 0;
    return Math.max(0, Math.ceil(this.#sealedAt + SLOW_INTERVAL_MS - performance.now()));
  }

  /** Resolves once the batch after `batch` may be sealed: to false where the node ends before. */
  async turn(batch: number): Promise<boolean> {
    for (let wait = this.waitMs(batch); wait > 0 && !this.#closed; wait = this.waitMs(batch)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, wait);
      await promise;
      clearTimeout(timer);
    }
    return this.#closed ? this.waitMs(batch) === 0 : true;
  }

  noteSealed(): void {
    this.#sealedAt = performance.now();
  }

  noteNamed(batch: number): void {
    this.#named = Math.max(this.#named, batch);
    this.#wake?.();
  }

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }
}
