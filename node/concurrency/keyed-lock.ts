/**
 * A lock for each key: exclusive work of a key runs alone, shared work runs beside other shared work. Anyone who comes
 * later waits for the one that was first, so that neither starves. A key that nobody uses costs nothing.
 */
export class KeyedLock<Key = string> {
  readonly #locks = new Map<Key, LockEntry>();

  /** Runs the work while nobody else holds the key. */
  async exclusive<Result>(key: Key, work: () => Promise<Result>): Promise<Result> {
    const before = this.#locks.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    const entry: LockEntry = { gate: promise, shared: new Set() };
    this.#locks.set(key, entry);
    await before?.gate;
    await Promise.all(before?.shared ?? []);
    try {
      return await work();
    } finally {
      resolve();
      this.#forget(key, entry);
    }
  }

  /** Runs the work while nobody holds the key alone. */
  async shared<Result>(key: Key, work: () => Promise<Result>): Promise<Result> {
    const entry = this.#locks.get(key) ?? { gate: Promise.resolve(), shared: new Set() };
    this.#locks.set(key, entry);
    const { promise, resolve } = Promise.withResolvers<void>();
    entry.shared.add(promise);
    try {
      await entry.gate;
      return await work();
    } finally {
      resolve();
      entry.shared.delete(promise);
      if (entry.shared.size === 0) this.#forgetShared(key, entry);
    }
  }

  #forget(key: Key, entry: LockEntry): void {
    if (this.#locks.get(key) === entry && entry.shared.size === 0) this.#locks.delete(key);
  }

  /** Only once the exclusive work that took the key is over: anyone who comes must still wait for it. */
  #forgetShared(key: Key, entry: LockEntry): void {
    if (this.#locks.get(key) === entry) this.#locks.delete(key);
  }
}

/** Exclusive work, and the shared work that came after it. */
interface LockEntry {
  /** Settles when the exclusive work is over. */
  readonly gate: Promise<void>;
  readonly shared: Set<Promise<void>>;
}
