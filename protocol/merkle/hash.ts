import type { Hashable } from '../bytes.ts';
import type { Suite } from '../suite/suite.ts';

export type Sha256 = Pick<Suite, 'sha256'>;

/** RFC 9162 §2.1.1: the two prefixes keep a leaf from ever standing for an inner node. */
const LEAF_PREFIX = Uint8Array.of(0);
const NODE_PREFIX = Uint8Array.of(1);

export function leafHash(suite: Sha256, entry: Hashable): Uint8Array {
  return suite.sha256(LEAF_PREFIX, entry);
}

export function nodeHash(suite: Sha256, left: Uint8Array, right: Uint8Array): Uint8Array {
  return suite.sha256(NODE_PREFIX, left, right);
}
