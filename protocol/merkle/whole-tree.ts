import { HASH_BYTES } from './hash-list.ts';
import { nodeHash, type Sha256 } from './hash.ts';

/** Where a level begins, counted in nodes, and how wide it is. */
interface Level {
  readonly from: number;
  readonly width: number;
}

/**
 * A tree with all its nodes, for anyone who takes more than one path from it: of `n` leaves it takes some 64 n bytes. A
 * lone last node moves up unchanged, as in RFC 9162.
 */
export class WholeTree {
  readonly size: number;
  /** The leaves, then each level above them, all in one piece. */
  readonly #nodes: Uint8Array;
  readonly #levels: readonly Level[];

  private constructor(nodes: Uint8Array, levels: readonly Level[]) {
    this.size = levels[0]?.width ?? 0;
    this.#nodes = nodes;
    this.#levels = levels;
  }

  /** Throws `RangeError` where there are no leaves. */
  static of(suite: Sha256, leaves: readonly Uint8Array[]): WholeTree {
    if (leaves.length === 0) throw new RangeError('a tree has a leaf');
    const levels = levelsOf(leaves.length);
    const { from, width } = levels.at(-1) ?? { from: 0, width: 0 };
    const nodes = new Uint8Array((from + width) * HASH_BYTES);
    leaves.forEach((leaf, i) => nodes.set(leaf, i * HASH_BYTES));
    const at = (index: number) => nodes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES);
    for (const [i, above] of levels.slice(1).entries()) {
      const below = levels[i] ?? above;
      for (let k = 0; k < above.width; k++) {
        const left = at(below.from + 2 * k);
        const isLone = 2 * k + 1 === below.width;
        nodes.set(isLone ? left : nodeHash(suite, left, at(below.from + 2 * k + 1)), (above.from + k) * HASH_BYTES);
      }
    }
    return new WholeTree(nodes, levels);
  }

  /** The tree above a height, whose leaves are the nodes there. Throws `RangeError` where this one is not so high. */
  above(height: number): WholeTree {
    const { from, width } = this.#levels[height] ?? {};
    if (from === undefined || width === undefined) throw new RangeError('the tree is not so high');
    return new WholeTree(this.#nodes.slice(from * HASH_BYTES), levelsOf(width));
  }

  /** Bytes that its nodes take. */
  get bytes(): number {
    return this.#nodes.length;
  }

  root(): Uint8Array {
    return this.#nodes.slice(-HASH_BYTES);
  }

  /** Throws `RangeError` on an index that is not in the tree. */
  leaf(index: number): Uint8Array {
    this.#require(index);
    return this.#node(index);
  }

  /** Leaves `from` … `to - 1`, as far as there are. */
  leaves(from: number, to: number): Uint8Array[] {
    const count = Math.min(to, this.size) - from;
    return Array.from({ length: Math.max(count, 0) }, (_, i) => this.leaf(from + i));
  }

  /** Sibling hashes from a leaf up (RFC 9162 §2.1.3.1). Throws `RangeError` on an index that is not in the tree. */
  path(index: number): Uint8Array[] {
    this.#require(index);
    const path: Uint8Array[] = [];
    let place = index;
    for (const { from, width } of this.#levels) {
      const sibling = place ^ 1;
      if (sibling < width) path.push(this.#node(from + sibling));
      place >>= 1;
    }
    return path;
  }

  #node(at: number): Uint8Array {
    return this.#nodes.slice(at * HASH_BYTES, (at + 1) * HASH_BYTES);
  }

  #require(index: number): void {
    if (!Number.isInteger(index) || index < 0 || index >= this.size) throw new RangeError('leaf is not in the tree');
  }
}

function levelsOf(leaves: number): Level[] {
  const levels = [{ from: 0, width: leaves }];
  for (let from = leaves, width = leaves; width > 1;) {
    width = Math.ceil(width / 2);
    levels.push({ from, width });
    from += width;
  }
  return levels;
}
