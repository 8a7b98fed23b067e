import { equalBytes } from '../bytes.ts';
import { nodeHash, type Sha256 } from './hash.ts';
import { splitOf } from './tree.ts';

/** A leaf hash and its place in the tree. */
export interface PlacedLeaf {
  readonly index: number;
  readonly leaf: Uint8Array;
}

/**
 * The hashes that lead several leaves to one root (RFC 9162 §2.1): those of every subtree that holds none of them and
 * whose sibling holds some, from left to right. `indices`: of the leaves, ascending, each once and below `size`.
 * `pathOf`: the inclusion proof of one of them.
 */
export async function multiProof(
  indices: readonly number[],
  size: number,
  pathOf: (index: number) => Promise<readonly Uint8Array[]>,
): Promise<Uint8Array[]> {
  const siblings: Uint8Array[] = [];
  const walk = async (from: number, width: number, low: number, high: number, depth: number): Promise<void> => {
    if (width === 1) return;
    const half = splitOf(width);
    const middle = firstFrom(indices, from + half, low, high);
    const some = indices[low] ?? 0;
    if (middle > low) await walk(from, half, low, middle, depth + 1);
    else siblings.push(await siblingAt(pathOf, some, depth));
    if (high > middle) await walk(from + half, width - half, middle, high, depth + 1);
    else siblings.push(await siblingAt(pathOf, some, depth));
  };
  if (indices.length > 0) await walk(0, size, 0, indices.length, 0);
  return siblings;
}

/** Of the path from the leaf up, the hash beside the subtree that is so deep below the root. */
async function siblingAt(
  pathOf: (index: number) => Promise<readonly Uint8Array[]>,
  index: number,
  depth: number,
): Promise<Uint8Array> {
  const sibling = (await pathOf(index)).at(-1 - depth);
  if (sibling === undefined) throw new RangeError('a path is shorter than its tree is high');
  return sibling;
}

/**
 * The root that leaves and siblings lead to; null where they cannot belong together: leaves out of order or of no place
 * in the tree, too few siblings, or too many.
 */
function rootFromMultiProof(
  suite: Sha256,
  leaves: readonly PlacedLeaf[],
  size: number,
  siblings: readonly Uint8Array[],
): Uint8Array | null {
  const isInOrder = leaves.every(({ index }, i) => {
    const before = leaves[i - 1]?.index ?? -1;
    return Number.isSafeInteger(index) && index > before && index < size;
  });
  if (!isInOrder || leaves.length === 0 || !Number.isSafeInteger(size)) return null;
  const places = leaves.map(({ index }) => index);
  let used = 0;
  const walk = (from: number, width: number, low: number, high: number): Uint8Array | null => {
    if (low === high) return siblings[used++] ?? null;
    if (width === 1) return leaves[low]?.leaf ?? null;
    const half = splitOf(width);
    const middle = firstFrom(places, from + half, low, high);
    const left = walk(from, half, low, middle);
    const right = walk(from + half, width - half, middle, high);
    return left && right && nodeHash(suite, left, right);
  };
  const root = walk(0, size, 0, leaves.length);
  return used === siblings.length ? root : null;
}

/** Several leaves that lead to one root together: what each of them leads to was worked out once. */
export class JointPath {
  readonly #size: number;
  readonly #root: Uint8Array | null;
  readonly #leaves: ReadonlyMap<number, Uint8Array>;

  constructor(suite: Sha256, leaves: readonly PlacedLeaf[], size: number, siblings: readonly Uint8Array[]) {
    this.#size = size;
    this.#root = rootFromMultiProof(suite, leaves, size, siblings);
    this.#leaves = new Map(leaves.map(({ index, leaf }) => [index, leaf]));
  }

  /** The root that this leaf leads to in a tree of this size; null where it is none of those at hand. */
  rootOf(leaf: Uint8Array, index: number, size: number): Uint8Array | null {
    const known = this.#leaves.get(index);
    return size === this.#size && known !== undefined && equalBytes(known, leaf) ? this.#root : null;
  }
}

/** Of ascending numbers between `low` and `high` the first that is not below a bound. */
function firstFrom(numbers: readonly number[], bound: number, low: number, high: number): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((numbers[middle] ?? 0) < bound) from = middle + 1;
    else to = middle;
  }
  return from;
}
