import { hashBytes, type Sha256Hash, writeSha256 } from '../hash.ts';
import { rootFromPath } from '../merkle/inclusion.ts';
import type { Suite } from '../suite/suite.ts';
import type { OpenedBundle } from './opened-bundle.ts';
import type { Finding, FindingCode } from './verdict.ts';

/** Check 3: the leaf walks to the group's root, and to the batch's. */
export function checkWalk(suite: Suite, { bundle, record, leaf, group, envelope }: OpenedBundle): readonly Finding[] {
  if (record === null || leaf === null || group === null) return [];
  const walk = (
    tree: { first: number; size: number; root: Sha256Hash },
    path: readonly Sha256Hash[],
    code: FindingCode,
  ) => {
    const root = rootFromPath(suite, leaf, record.seq - tree.first, tree.size, path.map(hashBytes));
    if (root !== null && writeSha256(root) === tree.root) return [];
    return [{ check: 'proofWalk', code, detail: 'the leaf does not walk to the signed root' } as const];
  };
  return [
    ...walk(group, bundle.receipt.path, 'path-to-group'),
    ...(bundle.batch === null || envelope === null ? [] : walk(envelope, bundle.batch.path, 'path-to-batch')),
  ];
}
