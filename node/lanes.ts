/**
 * Keyed lanes: of one key, exclusive work runs alone, shared work runs beside other shared work. Whoever comes later
 * waits for whoever was first, so that neither starves. A lane that nobody uses costs nothing.
 */
export class Lanes<Key = string> {
  readonly #lanes = new Map<Key, Lane>();

  /** Runs the work while nobody else is in the lane. */
  async exclusive<Result>(key: Key, work: () => Promise<Result>): Promise<Result> {
    const before = this.#lanes.get(key);
    const { promise, resolve } = Promise.withResolvers<void>();
    const lane: Lane = { gate: promise, shared: new Set() };
    this.#lanes.set(key, lane);
    await before?.gate;
    await Promise.all(before?.shared ?? []);
    try {
      return await work();
    } finally {
      resolve();
      this.#forget(key, lane);
    }
  }

  /** Runs the work while nobody is alone in the lane. */
  async shared<Result>(key: Key, work: () => Promise<Result>): Promise<Result> {
    const lane = this.#lanes.get(key) ?? { gate: Promise.resolve(), shared: new Set() };
    this.#lanes.set(key, lane);
    const { promise, resolve } = Promise.withResolvers<void>();
    lane.shared.add(promise);
    try {
      await lane.gate;
      return await work();
    } finally {
      resolve();
      lane.shared.delete(promise);
      if (lane.shared.size === 0) this.#forgetShared(key, lane);
    }
  }

  #forget(key: Key, lane: Lane): void {
    if (this.#lanes.get(key) === lane && lane.shared.size === 0) this.#lanes.delete(key);
  }

  /** Only once the exclusive work that opened the lane is over: whoever comes must still wait for it. */
  #forgetShared(key: Key, lane: Lane): void {
    if (this.#lanes.get(key) === lane) this.#lanes.delete(key);
  }
}

/** Exclusive work, and the shared work that came after it. */
interface Lane {
  /** Settles when the exclusive work is over. */
  readonly gate: Promise<void>;
  readonly shared: Set<Promise<void>>;
}
