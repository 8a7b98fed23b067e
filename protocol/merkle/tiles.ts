import { concatBytes } from '../bytes.ts';
import { Frontier } from './frontier.ts';
import { HASH_BYTES, HashList } from './hash-list.ts';
import type { Sha256 } from './hash.ts';
import type { PathTree } from './tree-top.ts';
import { merkleRoot } from './tree.ts';
import { WholeTree } from './whole-tree.ts';

/** A tile holds the hashes of up to 256 neighbours of one height; heights 0, 8, 16 … of the tree are kept as tiles. */
export const TILE_HEIGHT = 8;
export const TILE_WIDTH = 1 << TILE_HEIGHT;
export { HASH_BYTES };
const TILE_BYTES = TILE_WIDTH * HASH_BYTES;

/** Tile `index` of tile level `level`: concatenated 32-byte roots of subtrees of 256^level leaves, left to right. */
export interface Tile {
  readonly level: number;
  readonly index: number;
  readonly hashes: Uint8Array;
}

/** A growing tree that can be cut into tiles at any moment without hashing anything twice but its ragged right edge. */
export class TileTree {
  readonly #suite: Sha256;
  readonly #levels: HashList[] = [new HashList()];
  readonly #frontier: Frontier;

  constructor(suite: Sha256) {
    this.#suite = suite;
    this.#frontier = new Frontier(suite, (height, root) => {
      if (height > 0 && height % TILE_HEIGHT === 0) this.#level(height / TILE_HEIGHT).push(root);
    });
  }

  get size(): number {
    return this.#frontier.size;
  }

  append(leaf: Uint8Array): void {
    // Its own copy: a hash may be a small piece of a large buffer, all of which would stay for as long as the tree.
    this.#frontier.append(this.#level(0).push(leaf));
  }

  root(): Uint8Array {
    return this.#frontier.root();
  }

  /**
   * The tiles of the tree as it stands. A level above the leaves also holds the root of the incomplete tile below it,
   * so that a path needs one tile a level.
   */
  *tiles(): Generator<Tile> {
    let ragged: Uint8Array = new Uint8Array(0);
    for (let level = 0; ; level++) {
      const hashes = concatBytes(this.#level(level).bytes, ragged);
      for (let index = 0; index * TILE_BYTES < hashes.length; index++) {
        yield { level, index, hashes: hashes.slice(index * TILE_BYTES, (index + 1) * TILE_BYTES) };
      }
      if (hashes.length <= TILE_BYTES) return;
      const edge = hashes.subarray(this.#level(level + 1).size * TILE_BYTES);
      ragged = edge.length > 0 ? merkleRoot(this.#suite, splitHashes(edge)) : edge;
    }
  }

  #level(level: number): HashList {
    return (this.#levels[level] ??= new HashList());
  }
}

/** The tree of the hashes of one tile, of which there are `width`; paths of the one at `place` are taken from it. */
export type TreeOfTile = (level: number, index: number, width: number, place: number) => Promise<PathTree>;

/**
 * Inclusion proof of leaf `index` in a tree of `size` leaves, by the trees of one tile a level: at most 256 hashes a
 * tile, whatever the size of the batch.
 */
export async function pathFromTiles(index: number, size: number, treeOf: TreeOfTile): Promise<Uint8Array[]> {
  const path: Uint8Array[] = [];
  let position = index;
  let width = size;
  for (let level = 0; level === 0 || width > 1; level++) {
    const tile = Math.floor(position / TILE_WIDTH);
    const place = position % TILE_WIDTH;
    const tree = await treeOf(level, tile, Math.min(TILE_WIDTH, width - tile * TILE_WIDTH), place);
    path.push(...tree.path(place));
    position = tile;
    width = Math.ceil(width / TILE_WIDTH);
  }
  return path;
}

/** The tree of a tile's hashes. Throws `RangeError` where it holds another number of them than `width`. */
export function treeOfTile(suite: Sha256, tile: Uint8Array, width: number): WholeTree {
  const hashes = splitHashes(tile);
  if (hashes.length !== width) throw new RangeError(`a tile holds ${hashes.length} hashes in place of ${width}`);
  return WholeTree.of(suite, hashes);
}

/**
 * The hashes of a tile, or those from `from` to before `to`, as far as it has them. Throws `RangeError` unless a tile
 * is a whole number of them.
 */
export function splitHashes(tile: Uint8Array, from = 0, to = Number.POSITIVE_INFINITY): Uint8Array[] {
  if (tile.length % HASH_BYTES !== 0) throw new RangeError('a tile is a whole number of hashes');
  const end = Math.min(to, tile.length / HASH_BYTES);
  return Array.from({ length: Math.max(end - from, 0) }, (_, i) =>
    tile.subarray((from + i) * HASH_BYTES, (from + i + 1) * HASH_BYTES),
  );
}

/** The bytes of a tile of these hashes. */
export function joinHashes(hashes: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(hashes.length * HASH_BYTES);
  hashes.forEach((hash, i) => joined.set(hash, i * HASH_BYTES));
  return joined;
}
