import { hashBytes, type Sha256Hash, writeSha256 } from '../hash.ts';
import { consistencyHolds } from '../merkle/consistency.ts';
import { rootFromPath } from '../merkle/inclusion.ts';
import type { Suite } from '../suite/suite.ts';
import type { Difference } from './misdeed.ts';

/** A tree by its size and root. */
export interface Head {
  readonly size: number;
  readonly root: Sha256Hash;
}

/** Whether it is shown that of these two trees neither is the beginning of the other. Costs hashes alone. */
export function differs(suite: Suite, first: Head, second: Head, difference: Difference): boolean {
  if (difference.type === 'beginning') {
    const [smaller, larger] = first.size <= second.size ? [first, second] : [second, first];
    return (
      difference.root !== smaller.root &&
      beginsWith(suite, larger, { ...smaller, root: difference.root }, difference.path)
    );
  }
  const { index, first: here, second: there } = difference;
  if (here.leaf === there.leaf) return false;
  return hasLeaf(suite, first, index, here) && hasLeaf(suite, second, index, there);
}

function beginsWith(suite: Suite, tree: Head, beginning: Head, path: readonly Sha256Hash[]): boolean {
  return consistencyHolds(suite, headOf(beginning), headOf(tree), path.map(hashBytes));
}

function headOf({ size, root }: Head): { readonly size: number; readonly root: Uint8Array } {
  return { size, root: hashBytes(root) };
}

function hasLeaf(
  suite: Suite,
  { size, root }: Head,
  index: number,
  { leaf, path }: { readonly leaf: Sha256Hash; readonly path: readonly Sha256Hash[] },
): boolean {
  const found = rootFromPath(suite, hashBytes(leaf), index, size, path.map(hashBytes));
  return found !== null && writeSha256(found) === root;
}
