import { Frontier } from './frontier.ts';
import { nodeHash, type Sha256 } from './hash.ts';

/** Root of a list of leaf hashes (RFC 9162 §2.1.1). */
export function merkleRoot(suite: Sha256, leaves: Iterable<Uint8Array>): Uint8Array {
  const frontier = new Frontier(suite);
  for (const leaf of leaves) frontier.append(leaf);
  return frontier.root();
}

/**
 * Inclusion proof of leaf `index` among `leaves` (RFC 9162 §2.1.3.1): sibling hashes from the leaf up. O(n) hashes, so
 * meant for a group or a tile; whole batches are proven through `tiles.ts`.
 * Throws `RangeError` on an index that is not in the tree.
 */
export function inclusionPath(suite: Sha256, leaves: readonly Uint8Array[], index: number): Uint8Array[] {
  if (!Number.isInteger(index) || index < 0 || index >= leaves.length) throw new RangeError('leaf is not in the tree');
  const path: Uint8Array[] = [];
  let level = leaves;
  for (let at = index; level.length > 1; at >>= 1) {
    const sibling = level[at ^ 1];
    if (sibling !== undefined) path.push(sibling);
    level = parentLevel(suite, level);
  }
  return path;
}

/** Leaves left of the point where RFC 9162 splits a tree of `n` > 1: the largest power of two smaller than n. */
export function splitOf(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}

/** Whether a tree of `n` leaves is full: a power of two. Exact for every safe integer, as a logarithm is not. */
export function isFull(n: number): boolean {
  return n === 1 || (n > 1 && splitOf(n) * 2 === n);
}

/** One level up: pairs are hashed, a lone last node moves up unchanged, which is the RFC's split at powers of two. */
function parentLevel(suite: Sha256, level: readonly Uint8Array[]): Uint8Array[] {
  const parents: Uint8Array[] = [];
  for (let i = 0; i < level.length; i += 2) {
    const left = level[i];
    const right = level[i + 1];
    if (left !== undefined) parents.push(right === undefined ? left : nodeHash(suite, left, right));
  }
  return parents;
}
