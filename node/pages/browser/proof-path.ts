import { hashBytes, hashText, writeSha256 } from '../../../protocol/hash.ts';
import { leafHash } from '../../../protocol/merkle/hash.ts';
import { rootFromPath } from '../../../protocol/merkle/inclusion.ts';
import type { Suite } from '../../../protocol/suite/suite.ts';
import type { Bundle } from '../../../protocol/verdict/bundle.ts';
import { openProof, proofOf } from '../../../protocol/verdict/opened-proof.ts';

/** A step on the way from a record to the log: what stands there, and its hash. */
export interface PathStep {
  readonly what: string;
  readonly hash: string;
}

/** The way of a record as its proof shows it: as far as its texts can be read. */
export function proofPath(suite: Suite, bundle: Bundle): readonly PathStep[] {
  const proof = proofOf(bundle);
  const { leaf, group, envelope, decision } = openProof(suite, proof);
  const besides = (path: readonly string[]): readonly PathStep[] =>
    path.map((hash) => ({ what: 'hashed together with', hash }));
  const steps: PathStep[] = [];
  if (leaf !== null) steps.push({ what: 'the record’s leaf', hash: writeSha256(leaf) });
  steps.push(...besides(proof.receipt.path));
  if (group !== null) steps.push({ what: `root of its group of ${group.size} records, signed`, hash: group.root });
  if (proof.batch === null || envelope === null) return steps;
  steps.push(...besides(proof.batch.path));
  steps.push({ what: `root of batch ${envelope.batch}, signed`, hash: envelope.root });
  steps.push({ what: 'envelope of the batch, named on the ledger', hash: hashText(suite, proof.batch.text) });
  if (proof.decision === null || decision === null) return steps;
  const log = leafHash(suite, proof.decision.text);
  steps.push({ what: `the decision on it, leaf ${decision.value.index} of the log`, hash: writeSha256(log) });
  const [shortest] = proof.decision.paths.toSorted((one, other) => one.path.length - other.path.length);
  if (shortest === undefined) return steps;
  const { size, path } = shortest;
  const root = rootFromPath(suite, log, decision.value.index, size, path.map(hashBytes));
  steps.push(...besides(path));
  if (root !== null) steps.push({ what: `root of the log of ${size}, signed by checkpoints`, hash: writeSha256(root) });
  return steps;
}
