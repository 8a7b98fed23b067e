import { leafHash, nodeHash } from '../../../protocol/merkle/hash.ts';
import type { Suite } from '../../../protocol/suite/suite.ts';

/** Leaf hashes of the first `size` of an endless list of distinct entries. */
export function numberedLeaves(suite: Suite, size: number): Uint8Array[] {
  return Array.from({ length: size }, (_, i) => leafHash(suite, Uint8Array.of(i & 255, (i >> 8) & 255, i >> 16)));
}

/** MTH of RFC 9162 §2.1.1, as the RFC defines it: by recursion on the list of leaf hashes. */
export function referenceRoot(suite: Suite, leaves: readonly Uint8Array[]): Uint8Array {
  const [only] = leaves;
  if (only === undefined) return suite.sha256();
  if (leaves.length === 1) return only;
  const k = splitOf(leaves.length);
  return nodeHash(suite, referenceRoot(suite, leaves.slice(0, k)), referenceRoot(suite, leaves.slice(k)));
}

/** PATH of RFC 9162 §2.1.3.1, as the RFC defines it. */
export function referencePath(suite: Suite, index: number, leaves: readonly Uint8Array[]): Uint8Array[] {
  if (leaves.length <= 1) return [];
  const k = splitOf(leaves.length);
  return index < k
    ? [...referencePath(suite, index, leaves.slice(0, k)), referenceRoot(suite, leaves.slice(k))]
    : [...referencePath(suite, index - k, leaves.slice(k)), referenceRoot(suite, leaves.slice(0, k))];
}

/** The largest power of two smaller than n. */
function splitOf(n: number): number {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
}
