import { envelopeStatement } from '../chain/envelope.ts';
import { hashBytes, type Sha256Hash, writeSha256 } from '../hash.ts';
import { decisionText } from '../log/decision.ts';
import { rootFromPath } from '../merkle/inclusion.ts';
import { groupStatement } from '../statement/group.ts';
import type { Suite } from '../suite/suite.ts';
import type { Authority } from '../verdict/authority.ts';
import { checkDecision, type NamedBatch } from '../verdict/check-decision.ts';
import { PlacedDecision } from '../verdict/placed-decision.ts';
import { countWitnesses } from '../verdict/witnesses.ts';
import { type Charge, NoChargeError, type ProofKnown, type Shortfall } from './charge.ts';
import type { ReceiptNotKept } from './misdeed.ts';

interface Tree {
  readonly first: number;
  readonly size: number;
  readonly root: Sha256Hash;
}

interface Leaf {
  readonly leaf: Sha256Hash;
  readonly path: readonly Sha256Hash[];
}

/**
 * A receipt that the decided batch does not keep (protocol §8): the node signed that a record is its `seq`-th, and
 * another stands there in the batch that was decided. Throws `NoChargeError` and `StatementError`.
 */
export function receiptNotKept(suite: Suite, { seq, receipt, batch, decision }: ReceiptNotKept): Charge {
  const group = groupStatement.parse(receipt.statement);
  const envelope = envelopeStatement.parse(batch.envelope);
  const { node } = envelope;
  // What does not read is refused before any signature.
  decisionText.parse(decision.text);
  if (group.node !== node) throw new NoChargeError('the receipt is of another node than the batch');
  if (receipt.leaf === batch.leaf) throw new NoChargeError('the batch keeps the receipt');
  if (!isInTree(suite, group, seq, receipt)) throw new NoChargeError('the leaf is not in the tree of the receipt');
  if (!isInTree(suite, envelope, seq, batch)) throw new NoChargeError('the other leaf is not in the tree of the batch');
  return {
    accused: node,
    batch: envelope.batch,
    signed: [
      {
        kind: groupStatement,
        text: receipt.statement,
        signature: receipt.signature,
        node,
        keyId: group.keyId,
        first: group.first,
        index: null,
      },
      {
        kind: envelopeStatement,
        text: batch.envelope,
        signature: batch.signature,
        node,
        keyId: envelope.keyId,
        first: undefined,
        index: null,
      },
    ],
    judge(authority, known) {
      const placed = new PlacedDecision(suite, decision);
      const named = { proof: { batch: { text: batch.envelope }, decision }, envelope, decision: placed };
      return shortfallOf(suite, authority, known, named, placed);
    },
  };
}

function isInTree(suite: Suite, { first, size, root }: Tree, seq: number, { leaf, path }: Leaf): boolean {
  const found = rootFromPath(suite, hashBytes(leaf), seq - first, size, path.map(hashBytes));
  return found !== null && writeSha256(found) === root;
}

function shortfallOf(
  suite: Suite,
  authority: Authority,
  { log }: ProofKnown,
  named: NamedBatch,
  placed: PlacedDecision,
): Shortfall | null {
  const [problem] = checkDecision(suite, authority, named).toSorted((a, b) => rank(a.fact) - rank(b.fact));
  if (problem !== undefined) {
    const word = problem.fact === 'contradicted' ? 'contradicted' : 'no-contradiction';
    return { word, detail: problem.detail };
  }
  if (named.envelope === null || log?.decisionAt(placed.value.index) === placed.text) return null;
  const { node, batch } = named.envelope;
  if (countWitnesses(authority, { node, batch, decision: placed }).covering !== null) return null;
  return { word: 'too-few-checkpoints', detail: 'checkpoints of too few members show that the batch was decided' };
}

function rank(fact: string): number {
  return fact === 'contradicted' ? 0 : 1;
}
