import { hashBytes, type Sha256Hash, writeSha256 } from '../hash.ts';
import { rootFromPath } from '../merkle/inclusion.ts';
import type { Suite } from '../suite/suite.ts';
import type { OpenedProof } from './opened-proof.ts';
import { type Fact, problem, type Problem, type ProblemCode } from './problem.ts';

interface Tree {
  readonly first: number;
  readonly size: number;
  readonly root: Sha256Hash;
}

/** What hashes alone say of the receipt: it is of the record's node, covers the record, and the leaf is in its tree. */
export function checkGroup(suite: Suite, opened: OpenedProof): readonly Problem[] {
  const { head, group, proof } = opened;
  if (head === null || group === null) return [];
  if (group.node !== head.node) return [unbound('signed', 'node-mismatch', 'the receipt is of another node')];
  if (!covers(group, head.seq)) {
    return [unbound('signed', 'range-mismatch', 'the receipt does not cover the record')];
  }
  if (isInTree(suite, opened, group, proof.receipt.path)) return [];
  return [problem('signed', 'proofWalk', 'path-to-group', 'the leaf does not walk to the root of the receipt')];
}

/** What hashes alone say of the batch: the same of its tree, and it holds the whole group, by its own key, and the record's time. */
export function checkBatch(suite: Suite, opened: OpenedProof): readonly Problem[] {
  const { head, group, envelope, proof } = opened;
  if (head === null || group === null || envelope === null || proof.batch === null) return [];
  const problems: Problem[] = [];
  if (envelope.node !== head.node) problems.push(unbound('sealed', 'node-mismatch', 'the batch is of another node'));
  if (envelope.keyId !== group.keyId) {
    problems.push(unbound('sealed', 'key-mismatch', 'the receipt is by another key than the batch'));
  }
  const end = group.first + group.size;
  if (group.first < envelope.first || end > envelope.first + envelope.size) {
    problems.push(unbound('sealed', 'range-mismatch', 'the batch does not cover the group'));
  }
  if ((envelope.batch === 1) !== (envelope.prev === null)) {
    problems.push(unbound('sealed', 'range-mismatch', 'only the first batch has no envelope before it'));
  }
  if (head.submittedAt < envelope.from || head.submittedAt > envelope.sealedAt) {
    problems.push(unbound('sealed', 'time-mismatch', 'the record was not submitted while the batch was open'));
  }
  if (!isInTree(suite, opened, envelope, proof.batch.path)) {
    const detail = 'the leaf does not walk to the root of the envelope';
    problems.push(problem('sealed', 'proofWalk', 'path-to-batch', detail));
  }
  return problems;
}

function covers({ first, size }: Tree, seq: number): boolean {
  return seq >= first && seq - first < size;
}

function isInTree(suite: Suite, { head, leaf }: OpenedProof, tree: Tree, path: readonly Sha256Hash[]): boolean {
  if (head === null || leaf === null || !covers(tree, head.seq)) return false;
  const root = rootFromPath(suite, leaf, head.seq - tree.first, tree.size, path.map(hashBytes));
  return root !== null && writeSha256(root) === tree.root;
}

function unbound(fact: Fact, code: ProblemCode, detail: string): Problem {
  return problem(fact, 'bundleBinding', code, detail);
}
