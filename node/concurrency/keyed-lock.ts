/**
 * Of one key, exclusive work runs alone, and shared work runs beside other shared work. Later work waits for earlier
 * work, so that neither kind starves. A key that is not in use costs nothing.
 */
export class KeyedLock<Key = string> {
  readonly #locks = new Map<Key, LockEntry>();

  /** Runs the work while no other work of the key runs. */
  exclusive<Result>(key: Key, work: () => Promise<Result>): Promise<Result> {
    return this.exclusiveOfAll([key], work);
  }

  /**
   * Runs the work while no other work of any of the keys runs. It takes its place at all of them at once, so that work
   * of several keys never waits for each other in a circle.
   */
  async exclusiveOfAll<Result>(keys: readonly Key[], work: () => Promise<Result>): Promise<Result> {
    const before = new Set(keys.flatMap((key) => this.#locks.get(key) ?? []));
    const { promise, resolve } = Promise.withResolvers<void>();
    const entries = new Map(keys.map((key) => [key, { gate: promise, shared: new Set<Promise<void>>() }]));
    for (const [key, entry] of entries) this.#locks.set(key, entry);
    await Promise.all(before.values().map(({ gate }) => gate));
    await Promise.all(before.values().flatMap(({ shared }) => shared));
    try {
      return await work();
    } finally {
      resolve();
      for (const [key, entry] of entries) this.#forget(key, entry);
    }
  }

  /** Runs the work while no exclusive work of the key runs. */
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

  /** Only once the exclusive work before is over: work that comes later must still wait for it. */
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
