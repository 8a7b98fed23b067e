import { hashBytes, type Sha256Hash, writeSha256 } from '../hash.ts';
import { rootFromPath } from '../merkle/inclusion.ts';
import type { Suite } from '../suite/suite.ts';
import type { OpenedProof } from './opened-proof.ts';
import type { Finding, FindingCode } from './verdict.ts';

/** Check 3: the leaf walks to the group's root, and to the batch's. */
export function checkWalk(suite: Suite, { proof, record, leaf, group, envelope }: OpenedProof): readonly Finding[] {
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
    ...walk(group, proof.receipt.path, 'path-to-group'),
    ...(proof.batch === null || envelope === null ? [] : walk(envelope, proof.batch.path, 'path-to-batch')),
  ];
}
