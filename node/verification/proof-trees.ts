import { LRUCache } from 'lru-cache';
import { equalBytes } from '../../protocol/bytes.ts';
import type { Envelope } from '../../protocol/chain/envelope.ts';
import { hashBytes, type Sha256Hash } from '../../protocol/hash.ts';
import type { Sha256 } from '../../protocol/merkle/hash.ts';
import { pathFromTiles, splitHashes, TILE_WIDTH, treeOfTile } from '../../protocol/merkle/tiles.ts';
import { WholeTree } from '../../protocol/merkle/whole-tree.ts';
import type { Group } from '../../protocol/statement/group.ts';
import { nativeSuite } from '../keys/native-suite.ts';

/** Trees that are kept, in bytes: of a tile 16 KiB, of a group of a thousand records 64 KiB. */
const MAX_BYTES = 32 << 20;
/** Beside its nodes, about. */
const TREE_BYTES = 512;

/** Hashes of a tile of the batch's tree. Throws where it is missing. */
export type ReadTile = (level: number, index: number) => Promise<Uint8Array>;

export interface ProofTreesOptions {
  readonly suite?: Sha256;
  readonly maxBytes?: number;
}

/** A tile's tree, whose root stands at that place of the tile above; the topmost tile's is the root of the batch. */
interface TileTree {
  readonly name: string;
  readonly tree: WholeTree;
  readonly place: number;
  readonly isKept: boolean;
}

/**
 * The trees of groups and of the tiles of batches, built once for all paths that are taken from them. One is kept only
 * where it has the root that was signed, and found by that root: what is damaged in the store is read again, and what
 * is kept stays true whatever becomes of the store.
 */
export class ProofTrees {
  readonly #suite: Sha256;
  readonly #kept: LRUCache<string, WholeTree>;

  constructor({ suite = nativeSuite, maxBytes = MAX_BYTES }: ProofTreesOptions = {}) {
    this.#suite = suite;
    this.#kept = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ bytes }) => bytes + TREE_BYTES });
  }

  /** Path of a record to the root of its group. `leaves`: those of the group, asked for where its tree is not kept. */
  async groupPath(
    { root, first, size }: Group,
    seq: number,
    leaves: () => Promise<Uint8Array[]>,
  ): Promise<Uint8Array[]> {
    const name = `${root}/${size}`;
    let tree = this.#kept.get(name);
    if (tree === undefined) {
      tree = new WholeTree(this.#suite, await leaves());
      if (tree.size === size && hasRoot(tree, root)) this.#kept.set(name, tree);
    }
    return tree.path(seq - first);
  }

  /** Path of a record to the root of its batch. Throws `RangeError` where a tile is short. */
  async batchPath({ root, first, size }: Envelope, seq: number, read: ReadTile): Promise<Uint8Array[]> {
    const trees: TileTree[] = [];
    const path = await pathFromTiles(seq - first, size, async (level, index, width) => {
      const name = tileName({ root, size }, level, index);
      const kept = this.#kept.get(name);
      const tree = kept ?? treeOfTile(this.#suite, await read(level, index), width);
      const place = Math.floor((seq - first) / TILE_WIDTH ** level) % TILE_WIDTH;
      trees.push({ name, tree, place, isKept: kept !== undefined });
      return tree;
    });
    this.#keepTrue(trees, root);
    return path;
  }

  /**
   * Leaves of a batch from record `from` on, `count` of them, by the trees at hand or else read. Throws where one is
   * missing.
   */
  async batchLeaves(envelope: Envelope, from: number, count: number, read: ReadTile): Promise<Uint8Array[]> {
    const begin = from - envelope.first;
    const end = begin + count;
    const leaves: Uint8Array[] = [];
    for (let tile = Math.floor(begin / TILE_WIDTH); tile * TILE_WIDTH < end; tile++) {
      const at = tile * TILE_WIDTH;
      const [first, last] = [Math.max(begin - at, 0), Math.min(end - at, TILE_WIDTH)];
      const tree = this.#kept.get(tileName(envelope, 0, tile));
      leaves.push(...(tree?.leaves(first, last) ?? splitHashes(await read(0, tile)).slice(first, last)));
    }
    return leaves;
  }

  /** From the top down, as far as each tile's root is the one that is signed, or stands in the tile above. */
  #keepTrue(trees: readonly TileTree[], root: Sha256Hash): void {
    let expected = hashBytes(root);
    for (const { name, tree, place, isKept } of trees.toReversed()) {
      if (!equalBytes(tree.root(), expected)) return;
      if (!isKept) this.#kept.set(name, tree);
      expected = tree.leaf(place);
    }
  }
}

function tileName({ root, size }: Pick<Envelope, 'root' | 'size'>, level: number, index: number): string {
  return `${root}/${size}/${level}/${index}`;
}

function hasRoot(tree: WholeTree, root: Sha256Hash): boolean {
  return equalBytes(tree.root(), hashBytes(root));
}
