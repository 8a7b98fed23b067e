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
const MAX_WHOLE_BYTES = 20 << 20;
/** Upper parts of those that were let go: of a million records in groups of a thousand some 9 MiB. */
const MAX_TOP_BYTES = 12 << 20;
/** Beside the nodes of either, about: objects, and the name. */
const TREE_BYTES = 1 << 10;
/** Of blocks, in levels: with the upper part of a tree at hand, a path costs some 2^height hashes. */
const TILE_BLOCK_HEIGHT = 4;
const GROUP_BLOCK_HEIGHT = 6;
/** Paths by blocks that cost as much as the tree: after so many it is made whole again. */
const MOST_OPENINGS = 16;

/** Hashes of a tile of the batch's tree. Throws where it is missing. */
export type ReadTile = (level: number, index: number) => Promise<Uint8Array>;

/** Leaves of a tree from `from` on, `count` of them. */
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
  /** Where it was built for this path, and is not kept yet. */
  readonly built: WholeTree | undefined;
}

/** A tree with all its nodes, and the height of its blocks once it is let go. */
interface KeptTree {
  readonly tree: WholeTree;
  readonly blockHeight: number;
}

/** What is left of a tree that was let go, and how often a path was taken from it since. */
interface KeptTop {
  readonly top: TreeTop;
  openings: number;
}

/**
 * The trees of groups and of the tiles of batches, built once for all paths that are taken from them. One is kept only
 * where it has the root that was signed, and found by that root: what is damaged in the store is read again, and what
 * is kept stays true whatever becomes of the store.
 */
export class ProofTrees {
  readonly #suite: Sha256;
  readonly #whole: LRUCache<string, KeptTree>;
  readonly #tops: LRUCache<string, KeptTop>;

  constructor(options: ProofTreesOptions = {}) {
    const { suite = nativeSuite, maxWholeBytes = MAX_WHOLE_BYTES, maxTopBytes = MAX_TOP_BYTES } = options;
    this.#suite = suite;
    this.#whole = new LRUCache({
      maxSize: maxWholeBytes,
      sizeCalculation: ({ tree }) => tree.bytes + TREE_BYTES,
      dispose: (kept, name, reason) => {
        if (reason === 'evict') this.#keepTop(name, kept);
      },
    });
    this.#tops = new LRUCache({ maxSize: maxTopBytes, sizeCalculation: ({ top }) => top.bytes + TREE_BYTES });
  }

  /** Path of a record to the root of its group. `read`: asked for the leaves that no kept tree has. */
  async groupPath({ root, first, size }: Group, seq: number, read: ReadLeaves): Promise<Uint8Array[]> {
    const name = `${root}/${size}`;
    const kept = this.#whole.get(name)?.tree ?? (await this.#openTop(name, seq - first, read));
    if (kept !== undefined) return kept.path(seq - first);
    const tree = WholeTree.of(this.#suite, await read(0, size));
    if (tree.size === size && hasRoot(tree, root)) this.#keep(name, { tree, blockHeight: GROUP_BLOCK_HEIGHT });
    return tree.path(seq - first);
  }

  /** Path of a record to the root of its batch. Throws `RangeError` where a tile misses what no kept tree has of it. */
  async batchPath({ root, first, size }: Envelope, seq: number, read: ReadTile): Promise<Uint8Array[]> {
    const trees: TileTree[] = [];
    const path = await pathFromTiles(seq - first, size, async (level, index, width, place) => {
      const name = tileName({ root, size }, level, index);
      const hashes = async (from: number, count: number) => splitHashes(await read(level, index), from, from + count);
      const kept = this.#whole.get(name)?.tree ?? (await this.#openTop(name, place, hashes));
      if (kept !== undefined) {
        trees.push({ name, tree: kept, place, built: undefined });
        return kept;
      }
      const built = treeOfTile(this.#suite, await read(level, index), width);
      trees.push({ name, tree: built, place, built });
      return built;
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
      const kept = this.#whole.get(tileName(envelope, 0, tile));
      leaves.push(...(kept?.tree.leaves(first, last) ?? splitHashes(await read(0, tile), first, last)));
    }
    return leaves;
  }

  /**
   * A tree that was let go, as far as a path of the leaf `index` needs it; undefined where nothing is left of it, the
   * leaves are not its own, or paths have cost as much as it would.
   */
  async #openTop(name: string, index: number, read: ReadLeaves): Promise<PathTree | undefined> {
    const kept = this.#tops.get(name);
    if (kept === undefined || kept.openings >= MOST_OPENINGS) return undefined;
    kept.openings++;
    const { from, to } = kept.top.blockOf(index);
    return kept.top.open(from, await read(from, to - from));
  }

  /** From the top down, as far as each tile's root is the one that is signed, or stands in the tile above. */
  #keepTrue(trees: readonly TileTree[], root: Sha256Hash): void {
    let expected = hashBytes(root);
    for (const { name, tree, place, built } of trees.toReversed()) {
      if (!equalBytes(tree.root(), expected)) return;
      if (built !== undefined) this.#keep(name, { tree: built, blockHeight: TILE_BLOCK_HEIGHT });
      expected = tree.leaf(place);
    }
  }

  #keep(name: string, kept: KeptTree): void {
    this.#tops.delete(name);
    this.#whole.set(name, kept);
  }

  #keepTop(name: string, { tree, blockHeight }: KeptTree): void {
    if (tree.size <= 2 ** blockHeight) return;
    this.#tops.set(name, { top: new TreeTop(this.#suite, tree, blockHeight), openings: 0 });
  }
}

function tileName({ root, size }: Pick<Envelope, 'root' | 'size'>, level: number, index: number): string {
  return `${root}/${size}/${level}/${index}`;
}

function hasRoot(tree: WholeTree, root: Sha256Hash): boolean {
  return equalBytes(tree.root(), hashBytes(root));
}
