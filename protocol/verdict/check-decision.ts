import type { Envelope } from '../chain/envelope.ts';
import { hashText, type Sha256Hash } from '../hash.ts';
import type { BatchMessage } from '../log/message.ts';
import { hasMember, majorityOf } from '../log/roster.ts';
import type { Suite } from '../suite/suite.ts';
import type { Authority } from './authority.ts';
import type { DecisionProof } from './bundle.ts';
import type { OpenedProof } from './opened-proof.ts';
import { PlacedDecision } from './placed-decision.ts';
import { problem, type Problem, type ProblemCode } from './problem.ts';
import { isInOrder, isSameLedger, memberOfAccount } from './roster-links.ts';

/** How far the ledger's time may lie before `sealedAt`: what clocks may differ by. */
export const MISDATED_MS = 5 * 60_000;
/** From `sealedAt` to the ledger's time; what takes longer is said. */
const LATE_MS = 24 * 60 * 60_000;

/** A batch and the decision that is said to name it. */
export interface NamedBatch extends Pick<OpenedProof, 'decision' | 'envelope'> {
  readonly proof: {
    readonly batch: { readonly text: string } | null;
    readonly decision: DecisionProof | null;
  };
}

/**
 * Whether the decision of a proof names its envelope, and can have been made (protocol §2). That it was made is for
 * checkpoints to say. What the verifier's own log has otherwise is a contradiction, also where the proof has no
 * decision.
 */
export function checkDecision(suite: Suite, authority: Authority, opened: NamedBatch): readonly Problem[] {
  const { proof, envelope, decision } = opened;
  if (proof.batch === null) {
    return proof.decision === null ? [] : [unbound('decision-without-batch', 'a decision stands without a batch')];
  }
  if (envelope === null) return [];
  const otherwise = knownOtherwise(suite, authority, envelope, proof.batch.text, decision);
  if (decision === null) return otherwise;
  return [
    ...checkNamed(suite, authority, envelope, proof.batch.text, decision),
    ...checkPlace(authority, envelope, decision),
    ...otherwise,
    ...checkTime(envelope, decision),
  ];
}

/** Whether the ledger's time is so late after `sealedAt` that it is said. The record is verified all the same. */
export function isLate({ sealedAt }: Envelope, decision: PlacedDecision): boolean {
  return decision.milliseconds - Date.parse(sealedAt) > LATE_MS;
}

function checkNamed(
  suite: Suite,
  { line }: Authority,
  { node, batch, keyId }: Envelope,
  text: string,
  decision: PlacedDecision,
): readonly Problem[] {
  const { value } = decision;
  const message = batchNamedBy(decision);
  if (message === null || message.federation !== line.federation) {
    return [unbound('decision-mismatch', 'the decision names no batch of this federation')];
  }
  if (message.node !== node || message.batch !== batch || message.envelope !== hashText(suite, text)) {
    return [unbound('decision-mismatch', 'the decision names another batch')];
  }
  if (message.keyId !== keyId) return [unbound('decision-mismatch', 'the decision names another key')];
  if (isSameLedger(value, line.genesis.roster.ledger)) return [];
  return [unbound('decision-mismatch', 'the decision is not of the ledger topic of the federation')];
}

/** By whom it was paid, and where in the log it stands among rosters and revocations. */
function checkPlace({ line, told, withdrawals }: Authority, envelope: Envelope, decision: PlacedDecision): Problem[] {
  const { node, keyId } = envelope;
  const { index, payer } = decision.value;
  const { roster } = line.inForceAt(index);
  const payedBy = memberOfAccount(roster, payer);
  const isMember = hasMember(roster, node);
  const wasMember = line.upTo(index).some((place) => hasMember(place.roster, node));
  const others = roster.members.length - (isMember ? 1 : 0);
  if (payedBy === undefined) return [impossible('no member of the roster in force there paid for the decision')];
  if (!wasMember) return [impossible(`no roster up to the decision names ${node}`)];
  if (payedBy !== node && others < majorityOf(roster)) {
    return [impossible(`the members beside ${node} are no majority that could name its batch`)];
  }
  if (line.places.some((place) => place.decision !== null && !fitBeside(place.decision, decision))) {
    return [impossible('the decision is not in the order of the ledger')];
  }
  if (told.isInForceAt(node, keyId, index)) return [impossible('the key that it names was revoked before it')];
  if (!withdrawals.isInForceAt(node, keyId, index)) return [];
  return [contradiction('the key that the decision names was revoked before it')];
}

/** Hash of the envelope that the text of a decision names. `read`: one that was read before, which it may be. */
function envelopeNamed(suite: Suite, text: string, read: PlacedDecision | null): Sha256Hash | undefined {
  const decision = read?.text === text ? read : new PlacedDecision(suite, { text, paths: [] });
  return batchNamedBy(decision)?.envelope;
}

/** Whether places in the log and on the ledger have one order. */
function fitBeside(a: PlacedDecision, b: PlacedDecision): boolean {
  if (a.value.index === b.value.index) return false;
  return a.value.index < b.value.index ? isInOrder(a, b) : isInOrder(b, a);
}

function checkTime({ sealedAt }: Envelope, decision: PlacedDecision): readonly Problem[] {
  if (decision.milliseconds + MISDATED_MS >= Date.parse(sealedAt)) return [];
  return [unbound('misdated', 'the decision was made long before the batch was sealed')];
}

function knownOtherwise(
  suite: Suite,
  { log }: Authority,
  { node, batch }: Envelope,
  text: string,
  decision: PlacedDecision | null,
): readonly Problem[] {
  if (log === undefined) return [];
  const decided = log.decidedBatch(node, batch);
  const standing = decision === null ? undefined : log.decisionAt(decision.value.index);
  const named = decided === undefined ? undefined : envelopeNamed(suite, decided, decision);
  if (decided !== undefined && named !== hashText(suite, text)) {
    return [contradiction(`another envelope was decided for batch ${batch} of ${node}`)];
  }
  if (decision === null) return [];
  if (decided !== undefined && decided !== decision.text) {
    return [contradiction(`batch ${batch} of ${node} was decided by another message`)];
  }
  if (standing === undefined || standing === decision.text) return [];
  return [contradiction(`another decision stands at place ${decision.value.index} of the log`)];
}

function batchNamedBy({ named }: PlacedDecision): BatchMessage | null {
  return named?.type === 'batch' ? named : null;
}

function unbound(code: ProblemCode, detail: string): Problem {
  return problem('onLedger', 'bundleBinding', code, detail);
}

function impossible(detail: string): Problem {
  return unbound('decision-impossible', detail);
}

function contradiction(detail: string): Problem {
  return problem('contradicted', 'bundleBinding', 'known-otherwise', detail);
}
