import type { Store } from '../store/store.ts';
import { type UtcDay, usageTable } from './usage-table.ts';

/** One row as memory holds it: a count, or the reading of it that is under way. */
interface Cell {
  records: number | undefined;
  reading: Promise<void> | undefined;
}

/** Rows kept in memory: an account has one a day. */
const MAX_CELLS = 20_000;

/**
 * The durable counts, cached. A cell that is being read is never dropped, so a count that was set meanwhile is not
 * overwritten by an older one that the reading brings.
 */
export class UsageCounts {
  readonly #store: Store;
  readonly #maxCells: number;
  #cells = new Map<string, Cell>();

  constructor(store: Store, maxCells = MAX_CELLS) {
    this.#store = store;
    this.#maxCells = maxCells;
  }

  /** Undefined where memory has not got it. */
  get(account: string, day: UtcDay): number | undefined {
    return this.#cells.get(usageTable.key(account, day))?.records;
  }

  /** After it, `get` knows the count, unless other accounts have pushed it out at once. Throws `StoreError`. */
  async read(account: string, day: UtcDay): Promise<void> {
    const key = usageTable.key(account, day);
    let cell = this.#cells.get(key);
    if (cell === undefined) {
      cell = { records: undefined, reading: undefined };
      this.#put(key, cell);
    }
    if (cell.records !== undefined) return;
    cell.reading ??= this.#fill(cell, account, day);
    await cell.reading;
  }

  /** To be called once the row is on the disk. */
  set(key: string, records: number): void {
    const cell = this.#cells.get(key);
    if (cell === undefined) this.#put(key, { records, reading: undefined });
    else cell.records = records;
  }

  forget(): void {
    this.#cells = new Map();
  }

  async #fill(cell: Cell, account: string, day: UtcDay): Promise<void> {
    try {
      const stored = (await usageTable.get(this.#store, account, day)) ?? 0;
      cell.records ??= stored;
    } finally {
      cell.reading = undefined;
    }
  }

  #put(key: string, cell: Cell): void {
    this.#cells.set(key, cell);
    for (const [oldest, { reading }] of this.#cells) {
      if (this.#cells.size <= this.#maxCells) return;
      if (reading === undefined && oldest !== key) this.#cells.delete(oldest);
    }
  }
}
