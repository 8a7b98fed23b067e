import type { Envelope } from '../chain/envelope.ts';
import { ReadTexts } from '../chain/read-texts.ts';
import { readBody, readHead, type RecordBody, type RecordHead, recordLeaf } from '../chain/record.ts';
import { EncodingError } from '../bytes.ts';
import type { Sha256Hash } from '../hash.ts';
import type { Base64url } from '../shapes.ts';
import { type Group, groupStatement } from '../statement/group.ts';
import { StatementError } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import type { Bundle, DecisionProof, Disclosure } from './bundle.ts';
import { checkBatch, checkGroup } from './check-trees.ts';
import { CommonTexts } from './common-texts.ts';
import type { PlacedDecision } from './placed-decision.ts';
import { type Check, type Fact, messageOf, problem, type Problem, type ProblemCode } from './problem.ts';

/** A signature over a text, null where it is lacking, and the path from the record's leaf to the root that the text names. */
interface SignedTree {
  readonly text: string;
  readonly signature: Base64url | null;
  readonly path: readonly Sha256Hash[];
}

/** What proves one record, that of a bundle or a linked one. */
export interface Proof {
  readonly record: Bundle['record'];
  readonly receipt: SignedTree;
  readonly batch: SignedTree | null;
  readonly decision: DecisionProof | null;
  readonly disclosure: Disclosure | undefined;
}

/**
 * A proof with each of its texts read, or null where it cannot be, and what hashes alone speak against it. It follows from
 * the proof alone, whoever judges it and when.
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

/** What a bundle carries of its own record. */
type ProofTexts = Pick<Bundle, 'batch' | 'decision' | 'disclosure' | 'receipt' | 'record'>;

/** The proof of a bundle's own record. */
export function proofOf({ record, receipt, batch, decision, disclosure }: ProofTexts): Proof {
  return {
    record,
    receipt: { text: receipt.statement, signature: receipt.signature, path: receipt.path },
    batch: batch && { text: batch.envelope, signature: batch.signature, path: batch.path },
    decision,
    disclosure,
  };
}

/** Reads every text of a proof, and walks its paths. Costs hashes alone; throws nothing. `common`: what was read of others. */
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
    group: read('signed', 'bundleBinding', 'receipt-malformed', () => groupStatement.parse(receipt.text)),
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
