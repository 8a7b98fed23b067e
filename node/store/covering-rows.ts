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
  /** Whether a row does not tell what it covers. Default: opening such a row throws. */
  readonly isDamaged?: (value: Value) => boolean;
}

/** The key parts before its first number, that number, and its value. */
interface Row<Parts, Value> {
  readonly parts: Parts;
  readonly first: number;
  readonly value: Value;
}

/** Numbers that share a memory of where their rows were found. */
const BLOCK = 1_024;
/** First numbers that are remembered of each store: eight bytes each. */
const MAX_FIRSTS = 131_072;
/** What a block takes beside its first numbers, in theirs. */
const BLOCK_FIRSTS = 24;

/**
 * Finds the row that covers a number: first under the nearest key where one was found before, which costs a tenth of a
 * search. Keys alone are remembered; the row is read and opened each time, so that one that was rewritten is found as
 * it is now.
 */
export class CoveringRows<Parts extends readonly KeyPart[], Value, Covered> {
  readonly #options: CoveringRowsOptions<Parts, Value, Covered>;
  readonly #blocks = new WeakMap<Reads, LRUCache<string, readonly number[]>>();

  constructor(options: CoveringRowsOptions<Parts, Value, Covered>) {
    this.#options = options;
  }

  /** Undefined where no row covers the number. Throws what opening a row throws. */
  async find(store: Reads, parts: Parts, at: number): Promise<Covered | undefined> {
    const { table, open } = this.#options;
    const blocks = this.#blocksOf(store);
    const block = `${parts.join('/')}/${Math.floor(at / BLOCK)}`;
    const known = blocks.get(block)?.findLast((first) => first <= at);
    const remembered = known === undefined ? undefined : await this.#openKnown(store, parts, known, at);
    if (remembered !== undefined) return remembered;
    const row = await table.last(store, parts, at);
    if (row === undefined) return undefined;
    const first = Number(row[0]);
    const covered = await open({ parts, first, value: row[1] }, at, store);
    if (covered === undefined) return undefined;
    // A row that begins between this one and the number is gone.
    const others = (blocks.get(block) ?? []).filter((other) => other < first || other > at);
    blocks.set(block, [...others, first].sort(ascending));
    return covered;
  }

  /** A damaged row may be another number's: the search finds whose it is. */
  async #openKnown(store: Reads, parts: Parts, first: number, at: number): Promise<Covered | undefined> {
    const { table, open, isDamaged } = this.#options;
    try {
      const value = await table.get(store, ...parts, first);
      if (value === undefined || isDamaged?.(value) === true) return undefined;
      return await open({ parts, first, value }, at, store);
    } catch {
      return undefined;
    }
  }

  #blocksOf(store: Reads): LRUCache<string, readonly number[]> {
    const known = this.#blocks.get(store);
    if (known !== undefined) return known;
    const blocks = new LRUCache<string, readonly number[]>({
      maxSize: MAX_FIRSTS,
      sizeCalculation: (firsts) => BLOCK_FIRSTS + firsts.length,
    });
    this.#blocks.set(store, blocks);
    return blocks;
  }
}

function ascending(a: number, b: number): number {
  return a - b;
}
