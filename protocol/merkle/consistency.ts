import { equalBytes } from '../bytes.ts';
import { nodeHash, type Sha256 } from './hash.ts';
import { isFull } from './tree.ts';

/** A tree by its size and root. */
export interface TreeHead {
  readonly size: number;
  readonly root: Uint8Array;
}

/** Whether the proof shows that the first tree is the beginning of the second (RFC 9162 §2.1.4.2). Never throws. */
export function consistencyHolds(
  suite: Sha256,
  first: TreeHead,
  second: TreeHead,
  proof: readonly Uint8Array[],
): boolean {
  if (!isSize(first.size) || !isSize(second.size) || first.size > second.size) return false;
  if (first.size === second.size) return proof.length === 0 && equalBytes(first.root, second.root);
  if (first.size === 0) return proof.length === 0 && equalBytes(first.root, suite.sha256());
  const [start, ...rest] = isFull(first.size) ? [first.root, ...proof] : proof;
  if (start === undefined) return false;
  const roots = walk(suite, first.size, second.size, start, rest);
  return roots !== null && equalBytes(roots.first, first.root) && equalBytes(roots.second, second.root);
}

interface Roots {
  readonly first: Uint8Array;
  readonly second: Uint8Array;
}

/** The two roots that a proof leads to from the subtree that both trees have; null where it is of another length. */
function walk(
  suite: Sha256,
  firstSize: number,
  secondSize: number,
  start: Uint8Array,
  path: readonly Uint8Array[],
): Roots | null {
  let node = firstSize - 1;
  let last = secondSize - 1;
  for (; node % 2 === 1; node = half(node)) last = half(last);
  let first = start;
  let second = start;
  for (const sibling of path) {
    if (last === 0) return null;
    if (node % 2 === 1 || node === last) {
      first = nodeHash(suite, sibling, first);
      second = nodeHash(suite, sibling, second);
      for (; node % 2 === 0 && node !== 0; node = half(node)) last = half(last);
    } else {
      second = nodeHash(suite, second, sibling);
    }
    node = half(node);
    last = half(last);
  }
  return last === 0 ? { first, second } : null;
}

function half(n: number): number {
  return Math.floor(n / 2);
}

function isSize(size: number): boolean {
  return Number.isSafeInteger(size) && size >= 0;
}
