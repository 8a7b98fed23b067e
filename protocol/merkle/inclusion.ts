import { nodeHash, type Sha256 } from './hash.ts';

/**
 * Walks an inclusion proof (RFC 9162 §2.1.3.2) and returns the root it leads to, or null where `index`, `size` and the
 * length of the path cannot belong together. The caller compares the root with the signed one.
 */
export function rootFromPath(
  suite: Sha256,
  leaf: Uint8Array,
  index: number,
  size: number,
  path: readonly Uint8Array[],
): Uint8Array | null {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return null;
  let node = index;
  let last = size - 1;
  let hash = leaf;
  for (const sibling of path) {
    if (last === 0) return null;
    if (node % 2 === 1 || node === last) {
      hash = nodeHash(suite, sibling, hash);
      while (node % 2 === 0 && node !== 0) {
        node = Math.floor(node / 2);
        last = Math.floor(last / 2);
      }
    } else {
      hash = nodeHash(suite, hash, sibling);
    }
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? hash : null;
}
