import type { Store } from '../../store/store.ts';
import type { TalliedDay } from './usage-tally.ts';
import { type UtcDay, usageTable } from './usage-table.ts';

/** One row as memory holds it: a count, or the reading of it that is under way. */
interface Cell {
  records: number | undefined;
  reading: Promise<void> | undefined;
}

/** Rows kept in memory: an account has one a day. Those that were put off are kept beyond it. */
const MAX_CELLS = 20_000;

/**
 * Counts of the records on the disk, cached. A cell that is being read is never dropped, so a count that was set meanwhile
 * is not overwritten by an older one that the reading brings; nor is one whose row on the disk counts fewer records.
 */
export class UsageCounts {
  readonly #store: Store;
  readonly #maxCells: number;
  #cells = new Map<string, Cell>();
  /** Counts whose rows were put off. */
  readonly #unwritten = new Map<string, TalliedDay>();

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

  /** Counts whose rows on the disk count fewer records, under their keys. */
  get unwritten(): ReadonlyMap<string, TalliedDay> {
    return this.#unwritten;
  }

  /** To be called once the records are on the disk. `isWritten`: and the row. */
  set(key: string, counted: TalliedDay, isWritten: boolean): void {
    const { records } = counted;
    if (isWritten) this.#unwritten.delete(key);
    else this.#unwritten.set(key, counted);
    const cell = this.#cells.get(key);
    if (cell === undefined) this.#put(key, { records, reading: undefined });
    else cell.records = records;
  }

  forget(): void {
    this.#cells = new Map();
    this.#unwritten.clear();
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
      if (reading === undefined && oldest !== key && !this.#unwritten.has(oldest)) this.#cells.delete(oldest);
    }
  }
}
