import type { Envelope } from '../chain/envelope.ts';
import { ReadTexts } from '../chain/read-texts.ts';
import { readBody, readHead, type RecordBody, type RecordHead, recordLeaf } from '../chain/record.ts';
import { EncodingError } from '../bytes.ts';
import { hashBytes, type Sha256Hash, writeSha256 } from '../hash.ts';
import { rootFromPath } from '../merkle/inclusion.ts';
import { JointPath } from '../merkle/multi-proof.ts';
import type { Base64url } from '../shapes.ts';
import type { Group } from '../statement/group.ts';
import { StatementError } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import type { Bundle, DecisionProof, Disclosure } from './bundle.ts';
import { CommonTexts } from './common-texts.ts';
import type { PlacedDecision } from './placed-decision.ts';
import { type Check, type Fact, messageOf, problem, type Problem, type ProblemCode } from './problem.ts';

/**
 * A signature over a text, null where it is lacking, and the path from the record's leaf to the root that the text
 * names.
 */
interface SignedTree<Path = JointPath | readonly Sha256Hash[]> {
  readonly text: string;
  readonly signature: Base64url | null;
  /** One of its own, or one that it walks together with others. */
  readonly path: Path;
}

/** What proves one record, that of a bundle or a linked one. */
export interface Proof {
  readonly record: Bundle['record'];
  readonly receipt: SignedTree;
  readonly batch: SignedTree | null;
  readonly decision: DecisionProof | null;
  readonly disclosure: Disclosure | undefined;
}

/** A proof that shares nothing with others, as files of a single record carry it. */
export interface SingleProof extends Proof {
  readonly receipt: SignedTree<readonly Sha256Hash[]>;
  readonly batch: SignedTree<readonly Sha256Hash[]> | null;
}

/**
 * A proof with each of its texts read, or null where it cannot be, and what hashes alone speak against it. It follows
 * from the proof alone, whoever judges it and whenever.
 */
export interface OpenedProof {
  readonly proof: Proof;
  readonly head: RecordHead | null;
  readonly body: RecordBody | null;
  readonly leaf: Uint8Array | null;
  readonly group: Group | null;
  readonly envelope: Envelope | null;
  readonly decision: PlacedDecision | null;
  readonly problems: readonly Problem[];
}

/** What a receipt or an envelope names: a tree over the records of a range. */
interface Tree {
  readonly first: number;
  readonly size: number;
  readonly root: Sha256Hash;
}

/** What a bundle carries of its own record. */
type ProofTexts = Pick<Bundle, 'batch' | 'decision' | 'disclosure' | 'receipt' | 'record'>;

/** The proof of a bundle's own record. */
export function proofOf({ record, receipt, batch, decision, disclosure }: ProofTexts): SingleProof {
  return {
    record,
    receipt: { text: receipt.statement, signature: receipt.signature, path: receipt.path },
    batch: batch && { text: batch.envelope, signature: batch.signature, path: batch.path },
    decision,
    disclosure,
  };
}

/**
 * Reads every text of a proof, and walks its paths. Costs hashes alone; throws nothing. `common`: what was read of
 * others.
 */
export function openProof(suite: Suite, proof: Proof, common = new CommonTexts(suite)): OpenedProof {
  const problems: Problem[] = [];
  const read = <Value>(fact: Fact, check: Check, code: ProblemCode, open: () => Value): Value | null => {
    try {
      return open();
    } catch (error) {
      if (!(error instanceof StatementError || error instanceof EncodingError)) throw error;
      problems.push(problem(fact, check, code, messageOf(error)));
      return null;
    }
  };
  const { record, receipt, batch, decision } = proof;
  const head = read('signed', 'leafRederived', 'record-malformed', () => headOf(record));
  const opened: OpenedProof = {
    proof,
    head,
    body: read('signed', 'leafRederived', 'record-malformed', () =>
      head === null ? null : bodyOf(suite, head, record),
    ),
    leaf: head && recordLeaf(suite, record.head),
    group: read('signed', 'bundleBinding', 'receipt-malformed', () => common.group(receipt.text)),
    envelope: read('sealed', 'bundleBinding', 'envelope-malformed', () => batch && common.envelope(batch.text)),
    decision: read('onLedger', 'bundleBinding', 'decision-malformed', () => decision && common.decision(decision)),
    problems,
  };
  return { ...opened, problems: [...problems, ...checkGroup(suite, opened), ...checkBatch(suite, opened)] };
}

function headOf(record: Proof['record']): RecordHead {
  return record instanceof ReadTexts ? record.headRead : readHead(record.head);
}

function bodyOf(suite: Suite, head: RecordHead, record: Proof['record']): RecordBody | null {
  if (record instanceof ReadTexts) return record.bodyRead;
  return record.body === null ? null : readBody(suite, head, record.body);
}

/** What hashes alone say of the receipt: it is of the record's node, covers the record, and the leaf is in its tree. */
function checkGroup(suite: Suite, opened: OpenedProof): readonly Problem[] {
  const { head, group, proof } = opened;
  if (head === null || group === null) return [];
  if (group.node !== head.node) return [unbound('signed', 'node-mismatch', 'the receipt is of another node')];
  if (!covers(group, head.seq)) {
    return [unbound('signed', 'range-mismatch', 'the receipt does not cover the record')];
  }
  if (isInTree(suite, opened, group, proof.receipt.path)) return [];
  return [problem('signed', 'proofWalk', 'path-to-group', 'the leaf does not walk to the root of the receipt')];
}

/**
 * What hashes alone say of the batch: the same of its tree, and it holds the whole group, by its own key, and the
 * record's time.
 */
function checkBatch(suite: Suite, opened: OpenedProof): readonly Problem[] {
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

function isInTree(suite: Suite, { head, leaf }: OpenedProof, tree: Tree, path: SignedTree['path']): boolean {
  if (head === null || leaf === null || !covers(tree, head.seq)) return false;
  const index = head.seq - tree.first;
  const root =
    path instanceof JointPath
      ? path.rootOf(leaf, index, tree.size)
      : rootFromPath(suite, leaf, index, tree.size, path.map(hashBytes));
  return root !== null && writeSha256(root) === tree.root;
}

function unbound(fact: Fact, code: ProblemCode, detail: string): Problem {
  return problem(fact, 'bundleBinding', code, detail);
}
