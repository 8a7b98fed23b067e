import { LRUCache } from 'lru-cache';
import type { Reads } from './store.ts';
import type { KeyPart, Table } from './table.ts';

/** Rows of a table whose last key part is the first of the numbers that each covers. */
export interface CoveringRowsOptions<Parts extends readonly KeyPart[], Value, Covered> {
  readonly table: Table<Value>;
  /** What is wanted of a row for a number; undefined where it does not cover it. May throw. */
  readonly open: (
    row: Row<Parts, Value>,
    at: number,
    store: Reads,
  ) => Promise<Covered | undefined> | Covered | undefined;
}

/** The key parts before its first number, that number, and its value. */
interface Row<Parts, Value> {
  readonly parts: Parts;
  readonly first: number;
  readonly value: Value;
}

/** Numbers that share a memory of where their row was found. */
const BLOCK = 16;
/** Blocks that are remembered of each store: some 150 bytes each. */
const MAX_BLOCKS = 16_384;

/**
 * Finds the row that covers a number: first under the key where it was found before, which costs a tenth of a search.
 * Keys alone are remembered; the row is read and opened each time, so that one that was rewritten is found as it is
 * now.
 */
export class CoveringRows<Parts extends readonly KeyPart[], Value, Covered> {
  readonly #options: CoveringRowsOptions<Parts, Value, Covered>;
  readonly #firsts = new WeakMap<Reads, LRUCache<string, number>>();

  constructor(options: CoveringRowsOptions<Parts, Value, Covered>) {
    this.#options = options;
  }

  /** Undefined where no row covers the number. Throws what opening a row throws. */
  async find(store: Reads, parts: Parts, at: number): Promise<Covered | undefined> {
    const { table, open } = this.#options;
    const firsts = this.#firstsOf(store);
    const block = `${parts.join('/')}/${Math.floor(at / BLOCK)}`;
    const known = firsts.get(block);
    if (known !== undefined && known <= at) {
      const value = await table.get(store, ...parts, known);
      const covered = value === undefined ? undefined : await open({ parts, first: known, value }, at, store);
      if (covered !== undefined) return covered;
    }
    const row = await table.last(store, parts, at);
    if (row === undefined) return undefined;
    const first = Number(row[0]);
    const covered = await open({ parts, first, value: row[1] }, at, store);
    if (covered !== undefined) firsts.set(block, first);
    return covered;
  }

  #firstsOf(store: Reads): LRUCache<string, number> {
    const known = this.#firsts.get(store);
    if (known !== undefined) return known;
    const firsts = new LRUCache<string, number>({ max: MAX_BLOCKS });
    this.#firsts.set(store, firsts);
    return firsts;
  }
}
