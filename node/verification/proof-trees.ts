import { LRUCache } from 'lru-cache';
import { equalBytes } from '../../protocol/bytes.ts';
import type { Envelope } from '../../protocol/chain/envelope.ts';
import { hashBytes, type Sha256Hash } from '../../protocol/hash.ts';
import type { Sha256 } from '../../protocol/merkle/hash.ts';
import { pathFromTiles, splitHashes, TILE_WIDTH, treeOfTile } from '../../protocol/merkle/tiles.ts';
import { type PathTree, TreeTop } from '../../protocol/merkle/tree-top.ts';
import { WholeTree } from '../../protocol/merkle/whole-tree.ts';
import type { Group } from '../../protocol/statement/group.ts';
import { nativeSuite } from '../keys/native-suite.ts';

/** Whole trees that are kept, in bytes: of a tile 16 KiB, of a group of a thousand records 64 KiB. */
const MAX_WHOLE_BYTES = 12 << 20;
/** Their upper parts, which are kept for longer: of a million records in groups of a thousand some 7 MiB. */
const MAX_TOP_BYTES = 20 << 20;
/** Beside the nodes of either, about. */
const TREE_BYTES = 512;
/** Of blocks, in levels: with the upper part of a tree at hand, a path costs some 2^height hashes. */
const TILE_BLOCK_HEIGHT = 4;
const GROUP_BLOCK_HEIGHT = 6;

/** Hashes of a tile of the batch's tree. Throws where it is missing. */
export type ReadTile = (level: number, index: number) => Promise<Uint8Array>;

/** Leaves of a group's tree from `from` on, `count` of them. */
export type ReadLeaves = (from: number, count: number) => Promise<readonly Uint8Array[]>;

export interface ProofTreesOptions {
  readonly suite?: Sha256;
  readonly maxWholeBytes?: number;
  readonly maxTopBytes?: number;
}

/** A tile's tree, whose root stands at that place of the tile above; the topmost tile's is the root of the batch. */
interface TileTree {
  readonly name: string;
  readonly tree: PathTree;
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
  readonly #whole: LRUCache<string, WholeTree>;
  readonly #tops: LRUCache<string, TreeTop>;

  constructor(options: ProofTreesOptions = {}) {
    const { suite = nativeSuite, maxWholeBytes = MAX_WHOLE_BYTES, maxTopBytes = MAX_TOP_BYTES } = options;
    this.#suite = suite;
    this.#whole = new LRUCache({ maxSize: maxWholeBytes, sizeCalculation: ({ bytes }) => bytes + TREE_BYTES });
    this.#tops = new LRUCache({ maxSize: maxTopBytes, sizeCalculation: ({ bytes }) => bytes + TREE_BYTES });
  }

  /** Path of a record to the root of its group. `read`: asked for the leaves that no kept tree has. */
  async groupPath({ root, first, size }: Group, seq: number, read: ReadLeaves): Promise<Uint8Array[]> {
    const name = `${root}/${size}`;
    const kept = this.#whole.get(name) ?? (await this.#openTop(name, seq - first, read));
    if (kept !== undefined) return kept.path(seq - first);
    const tree = WholeTree.of(this.#suite, await read(0, size));
    if (tree.size === size && hasRoot(tree, root)) this.#keep(name, tree, GROUP_BLOCK_HEIGHT);
    return tree.path(seq - first);
  }

  /** Path of a record to the root of its batch. Throws `RangeError` where a tile is short. */
  async batchPath({ root, first, size }: Envelope, seq: number, read: ReadTile): Promise<Uint8Array[]> {
    const trees: TileTree[] = [];
    const path = await pathFromTiles(seq - first, size, async (level, index, width, place) => {
      const name = tileName({ root, size }, level, index);
      const hashes = async (from: number, count: number) =>
        splitHashes(await read(level, index)).slice(from, from + count);
      const kept = this.#whole.get(name) ?? (await this.#openTop(name, place, hashes));
      const tree = kept ?? treeOfTile(this.#suite, await read(level, index), width);
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
      const tree = this.#whole.get(tileName(envelope, 0, tile));
      leaves.push(...(tree?.leaves(first, last) ?? splitHashes(await read(0, tile)).slice(first, last)));
    }
    return leaves;
  }

  /** The tree of a name by its upper part, as far as a path of the leaf `index` needs it; undefined where it is not had. */
  async #openTop(name: string, index: number, read: ReadLeaves): Promise<PathTree | undefined> {
    const top = this.#tops.get(name);
    if (top === undefined) return undefined;
    const { from, to } = top.blockOf(index);
    return top.open(from, await read(from, to - from));
  }

  /** From the top down, as far as each tile's root is the one that is signed, or stands in the tile above. */
  #keepTrue(trees: readonly TileTree[], root: Sha256Hash): void {
    let expected = hashBytes(root);
    for (const { name, tree, place, isKept } of trees.toReversed()) {
      if (!equalBytes(tree.root(), expected)) return;
      if (!isKept && tree instanceof WholeTree) this.#keep(name, tree, TILE_BLOCK_HEIGHT);
      expected = tree.leaf(place);
    }
  }

  #keep(name: string, tree: WholeTree, height: number): void {
    this.#whole.set(name, tree);
    if (tree.size > 2 ** height) this.#tops.set(name, new TreeTop(this.#suite, tree, height));
  }
}

function tileName({ root, size }: Pick<Envelope, 'root' | 'size'>, level: number, index: number): string {
  return `${root}/${size}/${level}/${index}`;
}

function hasRoot(tree: WholeTree, root: Sha256Hash): boolean {
  return equalBytes(tree.root(), hashBytes(root));
}
