import { equalBytes } from '../../protocol/bytes.ts';
import { type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';
import { LogTree } from '../../protocol/log/log-tree.ts';
import { tileWidth } from '../../protocol/log/tile-path.ts';
import { HASH_BYTES, type Tile, TILE_WIDTH } from '../../protocol/merkle/tiles.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { logTileTable } from '../log/log-tables.ts';
import type { Check } from './check.ts';
import { countRows, readRows } from './rows.ts';

/** Key of a tile: its level and its index. */
const TILE_KEY_PARTS = 2;

/**
 * The tree of the log, recomputed from the leaves of its entries and compared with the tiles that the store has.
 * Memory: the right edge of the tree, and a root for each size that is asked for.
 */
export class LogWalk {
  readonly #check: Check;
  /** Sizes whose root is wanted. */
  readonly #sizes: ReadonlySet<number>;
  readonly #roots = new Map<number, Sha256Hash>();
  /** By level: the tile at the right edge, which grows as long as leaves come. */
  readonly #partial = new Map<number, Tile>();
  #tree = LogTree.empty(nativeSuite);
  #leaves: Uint8Array[] = [];
  /** Rows that there must be and that are there, right or wrong. */
  #found = 0;

  constructor(check: Check, sizes: ReadonlySet<number>) {
    this.#check = check;
    this.#sizes = sizes;
  }

  /** Entries whose leaves were taken. */
  get size(): number {
    return this.#tree.size + this.#leaves.length;
  }

  /** Root of the tree as it was at a size that was asked for; undefined where the leaves do not reach it. */
  rootAt(size: number): Sha256Hash | undefined {
    return this.#roots.get(size);
  }

  async take(leaf: Uint8Array): Promise<void> {
    this.#leaves.push(leaf);
    if (this.size % TILE_WIDTH === 0 || this.#sizes.has(this.size)) await this.#grow();
  }

  /** After the last leaf: the tiles at the right edge. */
  async finish(): Promise<void> {
    await this.#grow();
    for (const tile of this.#partial.values()) await this.#compare(tile);
    if ((await countRows(this.#check, logTileTable)) === this.#found) return;
    for await (const { key, parts } of readRows(this.#check, logTileTable)) {
      const [level = '', index = ''] = parts;
      const isTile =
        parts.length === TILE_KEY_PARTS &&
        key === logTileTable.key(Number(level), Number(index)) &&
        tileWidth(this.#tree.size, Number(level), Number(index)) > 0;
      if (!isTile) this.#check.report.problem(logTileTable.name, key, 'belongs to no entry');
    }
  }

  async #grow(): Promise<void> {
    const { tree, tiles } = this.#tree.grow(this.#leaves);
    this.#tree = tree;
    this.#leaves = [];
    if (this.#sizes.has(tree.size)) this.#roots.set(tree.size, writeSha256(tree.root()));
    for (const tile of tiles) {
      if (tile.hashes.length < TILE_WIDTH * HASH_BYTES) {
        this.#partial.set(tile.level, tile);
        continue;
      }
      this.#partial.delete(tile.level);
      await this.#compare(tile);
    }
  }

  async #compare({ level, index, hashes }: Tile): Promise<void> {
    const { report, store } = this.#check;
    const key = logTileTable.key(level, index);
    const stored = await store.get(key);
    if (stored === undefined) return report.problem(logTileTable.name, key, 'is missing');
    this.#found++;
    report.count('logTiles');
    if (equalBytes(stored, hashes)) return;
    const at = firstDifference(stored, hashes);
    const what = level === 0 ? `the leaf of entry ${index * TILE_WIDTH + at}` : `the root of the tile below, ${at}`;
    report.problem(logTileTable.name, key, `does not hold ${what}`);
  }
}

/** Place of the first hash in which two tiles differ, also where one of them ends. */
function firstDifference(a: Uint8Array, b: Uint8Array): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  return Math.floor(at / HASH_BYTES);
}
