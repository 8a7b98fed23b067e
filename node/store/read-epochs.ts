/** Reads that began between two calls of `drained`. */
interface Epoch {
  open: number;
  readonly over: PromiseWithResolvers<void>;
}

/** Knows when the reads that are under way now have all ended. A read pins what the database looked like at its start. */
export class ReadEpochs {
  #current = newEpoch();
  readonly #draining = new Set<Epoch>();

  /** At the start of a read; what it returns is given back at its end. */
  enter(): Epoch {
    this.#current.open++;
    return this.#current;
  }

  leave(epoch: Epoch): void {
    epoch.open--;
    if (epoch.open > 0 || epoch === this.#current) return;
    this.#draining.delete(epoch);
    epoch.over.resolve();
  }

  /** Resolves once every read that has begun by now is over. */
  async drained(): Promise<void> {
    if (this.#current.open > 0) {
      this.#draining.add(this.#current);
      this.#current = newEpoch();
    }
    await Promise.all([...this.#draining].map(({ over }) => over.promise));
  }
}

function newEpoch(): Epoch {
  return { open: 0, over: Promise.withResolvers<void>() };
}
