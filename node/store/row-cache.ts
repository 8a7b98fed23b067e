type Keys = ReadonlySet<string> | ReadonlyMap<string, unknown>;
/** Rows that are missing in the cache, by their keys, with what is on the disk. */
type ReadMissing<Value> = (missing: readonly string[]) => Promise<Iterable<readonly [key: string, value: Value]>>;

/**
 * Keeps what is on the disk of the rows that one writer moves, so that a row is read once and not for each write. The
 * rows of a write are never dropped for those of another: `load` makes space by the rows that it was not asked for, and
 * holds more than `maxRows` where one write needs more.
 *
 * Ownership: the writer alone loads, and sets a row once its write is on the disk.
 */
export class RowCache<Value> {
  readonly #rows = new Map<string, Value>();
  readonly #maxRows: number;

  constructor(maxRows: number) {
    this.#maxRows = maxRows;
  }

  /** Makes sure that `get` answers for these keys. `read` is called for those that are missing, if there are any. */
  async load(needed: Keys, read: ReadMissing<Value>): Promise<void> {
    const missing = [...needed.keys()].filter((key) => !this.#rows.has(key));
    if (missing.length === 0) return;
    this.#makeSpace(needed, missing.length);
    for (const [key, value] of await read(missing)) {
      // A write may have ended during the read: what it set is newer.
      if (!this.#rows.has(key)) this.#rows.set(key, value);
    }
  }

  /** The value of a loaded row. */
  get(key: string): Value | undefined {
    return this.#rows.get(key);
  }

  /** Called once the row is on the disk. */
  set(key: string, value: Value): void {
    this.#rows.set(key, value);
  }

  /** Forgets all rows: another writer moved them. */
  clear(): void {
    this.#rows.clear();
  }

  /** Drops the rows that were read longest ago, but none that is needed. */
  #makeSpace(needed: Keys, more: number): void {
    let surplus = this.#rows.size + more - this.#maxRows;
    for (const key of this.#rows.keys()) {
      if (surplus <= 0) return;
      if (!needed.has(key) && this.#rows.delete(key)) surplus--;
    }
  }
}
