import { equalBytes } from '../bytes.ts';
import type { Sha256 } from './hash.ts';
import { WholeTree } from './whole-tree.ts';

/** What paths are taken from: a tree with all its nodes, or as much of one as the paths of some leaves need. */
export interface PathTree {
  root(): Uint8Array;
  /** Throws `RangeError` on a leaf that it has not got, as `path` does. */
  leaf(index: number): Uint8Array;
  /** Sibling hashes from a leaf up (RFC 9162 §2.1.3.1). */
  path(index: number): Uint8Array[];
}

/**
 * The upper part of a tree: the roots of its blocks, each of 2^height neighbouring leaves but for the last, and all
 * that is above them. Paths are taken with the leaves of one block at hand.
 */
export class TreeTop {
  readonly #suite: Sha256;
  readonly #width: number;
  readonly #size: number;
  /** Its leaves are the roots of the blocks. */
  readonly #above: WholeTree;

  /** Throws `RangeError` where a tree is so low that it has no such blocks. */
  constructor(suite: Sha256, tree: WholeTree, height: number) {
    this.#suite = suite;
    this.#width = 2 ** height;
    this.#size = tree.size;
    this.#above = tree.above(height);
  }

  /** Bytes that its nodes take. */
  get bytes(): number {
    return this.#above.bytes;
  }

  root(): Uint8Array {
    return this.#above.root();
  }

  /** Leaves `from` … `to - 1` are the block of a leaf. */
  blockOf(index: number): { readonly from: number; readonly to: number } {
    const from = index - (index % this.#width);
    return { from, to: Math.min(from + this.#width, this.#size) };
  }

  /**
   * The tree as far as a block's leaves reach, the first being `from`; undefined where they are not those of the tree.
   * Throws `RangeError` where no block begins there.
   */
  open(from: number, leaves: readonly Uint8Array[]): PathTree | undefined {
    const { to } = this.blockOf(from);
    if (leaves.length !== to - from) return undefined;
    const block = WholeTree.of(this.#suite, leaves);
    const place = from / this.#width;
    if (!equalBytes(block.root(), this.#above.leaf(place))) return undefined;
    return {
      root: () => this.root(),
      leaf: (index) => block.leaf(index - from),
      path: (index) => [...block.path(index - from), ...this.#above.path(place)],
    };
  }
}
