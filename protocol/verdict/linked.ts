import { type AccountVersion, type PlacedRecord, SILENT, type Standing, standingOf } from '../accounts/speaker.ts';
import type { AttestationRecord } from '../chain/record.ts';
import { type LinkedRecord, speaksFor } from '../evidence/linked-record.ts';
import type { NodeId, RecordId } from '../ids.ts';
import type { Base64url } from '../shapes.ts';
import type { RecordKind } from '../statement/vocabulary.ts';
import type { Bundle, DecisionProof, LinkedProof } from './bundle.ts';
import type { JudgedProof } from './facts.ts';
import type { OpenedProof, SingleProof } from './opened-proof.ts';
import type { Problem } from './problem.ts';
import { recordOf, showsRecord } from './shown-record.ts';
import { type Word, wordOf } from './word.ts';

/** What became of a linked record. One that does not hold counts for nothing, and moves no word. */
export interface LinkedVerdict {
  /** Null where its head cannot be read. */
  readonly id: RecordId | null;
  readonly kind: RecordKind | null;
  readonly node: NodeId | null;
  /** Its node signed it, and nothing speaks against that; whether it is verified too is for its own word to say. */
  readonly holds: boolean;
  /** It holds, is of the record's account, and its node speaks for that account. One that does not turns no flag. */
  readonly speaks: boolean;
  /**
   * The version of the account's statement by which its node speaks, or does not; null where none is needed or shown.
   */
  readonly accountStatement: AccountVersion | null;
  readonly word: Word;
  readonly problems: readonly Problem[];
}

/** The linked proofs of a bundle, each with the signatures and the decision that stand before it in the bundle. */
export function linkedProofsOf(bundle: Bundle): readonly SingleProof[] {
  const signatures = new Map<string, Base64url>([[bundle.receipt.statement, bundle.receipt.signature]]);
  const decisions = new Map<string, DecisionProof | null>();
  if (bundle.batch !== null) {
    signatures.set(bundle.batch.envelope, bundle.batch.signature);
    decisions.set(bundle.batch.envelope, bundle.decision);
  }
  return (bundle.linked ?? []).map((linked) => completed(linked, signatures, decisions));
}

/** A proof that was opened and judged. */
export interface JudgedRecord {
  readonly opened: OpenedProof;
  readonly judged: JudgedProof;
}

/** A linked record with its standing in the account. */
export interface StandingRecord extends LinkedRecord {
  readonly statement: AccountVersion | null;
}

/** Who speaks for an account, of the record of a bundle and those linked to it. */
export interface Standings {
  readonly own: Standing;
  /** In the order of the bundle; null where its body is not carried. */
  readonly linked: readonly (StandingRecord | null)[];
}

/** The standing of each record in its account, by the versions of the account's statement that are among the linked. */
export function standingsOf(own: JudgedRecord, linked: readonly JudgedRecord[]): Standings {
  const versions = linked.flatMap((one) => (showsRecord(one.judged.facts) ? (placed(one) ?? []) : []));
  const subject = placed(own);
  return {
    own: subject === null ? SILENT : standingOf(subject, versions),
    linked: linked.map((one) => {
      const found = placed(one);
      if (found === null) return null;
      const { record } = found;
      return { record, holds: showsRecord(one.judged.facts), ...standingOf(found, versions) };
    }),
  };
}

export function linkedVerdict(
  subject: AttestationRecord | null,
  { opened: { head }, judged }: JudgedRecord,
  standing: StandingRecord | null,
): LinkedVerdict {
  const { facts, problems } = judged;
  const isJudged = standing !== null && standing.holds && standing.record.account === subject?.account;
  return {
    id: head?.id ?? null,
    kind: head?.kind ?? null,
    node: head?.node ?? null,
    holds: showsRecord(facts),
    speaks: subject !== null && standing !== null && speaksFor(subject, standing),
    accountStatement: isJudged ? standing.statement : null,
    word: wordOf(facts),
    problems,
  };
}

function placed({ opened, judged }: JudgedRecord): PlacedRecord | null {
  const record = recordOf(opened);
  return record && { record, index: judged.index };
}

function completed(
  { record, receipt, batch, decision, disclosure }: LinkedProof,
  signatures: Map<string, Base64url>,
  decisions: Map<string, DecisionProof | null>,
): SingleProof {
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
