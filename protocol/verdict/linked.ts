import type { AttestationRecord } from '../chain/record.ts';
import type { LinkedRecord } from '../evidence/linked-record.ts';
import type { RecordId } from '../ids.ts';
import type { Base64url } from '../shapes.ts';
import type { RecordKind } from '../statement/vocabulary.ts';
import type { Bundle, DecisionProof, LinkedProof } from './bundle.ts';
import type { JudgedProof } from './facts.ts';
import type { OpenedProof, Proof } from './opened-proof.ts';
import type { Problem } from './problem.ts';
import { recordOf, showsRecord } from './shown-record.ts';
import { type Word, wordOf } from './word.ts';

/** What became of a linked record. One that does not hold counts for nothing, and moves no word. */
export interface LinkedVerdict {
  /** Null where its head cannot be read. */
  readonly id: RecordId | null;
  readonly kind: RecordKind | null;
  /** Its node signed it, and nothing speaks against that; whether it is verified too is for its own word to say. */
  readonly holds: boolean;
  readonly word: Word;
  readonly problems: readonly Problem[];
}

/** The linked proofs of a bundle, each with the signatures and the decision that stand before it in the bundle. */
export function linkedProofsOf(bundle: Bundle): readonly Proof[] {
  const signatures = new Map<string, Base64url>([[bundle.receipt.statement, bundle.receipt.signature]]);
  const decisions = new Map<string, DecisionProof | null>();
  if (bundle.batch !== null) {
    signatures.set(bundle.batch.envelope, bundle.batch.signature);
    decisions.set(bundle.batch.envelope, bundle.decision);
  }
  return (bundle.linked ?? []).map((linked) => completed(linked, signatures, decisions));
}

export function linkedVerdict({ head }: OpenedProof, judged: JudgedProof): LinkedVerdict {
  const { facts, problems } = judged;
  return { id: head?.id ?? null, kind: head?.kind ?? null, holds: showsRecord(facts), word: wordOf(facts), problems };
}

/**
 * The linked records as the evidence rules take them: those whose bodies are there. Only the node that an account's id
 * names speaks for the account: any other member could write a review for it (TRUST §5).
 */
export function speakingRecords(
  subject: AttestationRecord,
  linked: readonly { readonly opened: OpenedProof; readonly judged: JudgedProof }[],
): readonly LinkedRecord[] {
  return linked.flatMap(({ opened, judged }) => {
    const record = recordOf(opened);
    if (record === null || !speaksFor(subject.account, record)) return [];
    return [{ record, holds: showsRecord(judged.facts) }];
  });
}

function speaksFor(account: string, { node }: AttestationRecord): boolean {
  return account.startsWith(`acc_${node}_`);
}

function completed(
  { record, receipt, batch, decision, disclosure }: LinkedProof,
  signatures: Map<string, Base64url>,
  decisions: Map<string, DecisionProof | null>,
): Proof {
  const signatureOf = (text: string, own: Base64url | undefined): Base64url | null => {
    if (own !== undefined && !signatures.has(text)) signatures.set(text, own);
    return own ?? signatures.get(text) ?? null;
  };
  const decided = decision === undefined && batch !== null ? decisions.get(batch.envelope) : decision;
  if (batch !== null && decided !== undefined && !decisions.has(batch.envelope)) decisions.set(batch.envelope, decided);
  return {
    record,
    receipt: {
      text: receipt.statement,
      signature: signatureOf(receipt.statement, receipt.signature),
      path: receipt.path,
    },
    batch: batch && { text: batch.envelope, signature: signatureOf(batch.envelope, batch.signature), path: batch.path },
    decision: decided ?? null,
    disclosure,
  };
}
