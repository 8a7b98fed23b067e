import { envelopeStatement } from '../chain/envelope.ts';
import { groupStatement } from '../statement/group.ts';
import type { Authority } from './authority.ts';
import { isLate } from './check-decision.ts';
import { checkSignature } from './check-signed.ts';
import type { DecisionState, Facts, JudgedProof } from './facts.ts';
import type { JudgedBatches } from './judged-batches.ts';
import type { OpenedProof } from './opened-proof.ts';
import type { JudgedPayload } from './payload.ts';
import { problem, type Problem } from './problem.ts';
import { type DecidedBatch, isShownDecided, type Witnesses } from './witnesses.ts';

/** By whom a proof is judged; `authority` is null where rosters or pin do not join, and `problems` say why. */
export interface Grounds {
  readonly authority: Authority | null;
  /** What this authority finds of batches. */
  readonly batches: JudgedBatches | null;
  readonly isPinned: boolean;
  readonly problems: readonly Problem[];
}

/**
 * The facts of one proof: signed, sealed, on the ledger, witnessed, in the order of protocol §5. What hashes refuse
 * costs no signature.
 */
export function judgeProof(grounds: Grounds, opened: OpenedProof, payload: JudgedPayload): JudgedProof {
  const { problems: cheap } = opened;
  const { authority, batches } = grounds;
  if (authority === null || batches === null) return unjudged(grounds, opened, payload, cheap);
  const decision = batches.decision(opened);
  const decided = speaksAgainst([...cheap, ...decision]) ? null : decidedBatch(opened);
  const signatures = [
    ...(denies('signed', cheap) ? [] : checkReceipt(authority, opened, decided)),
    ...(denies('signed', cheap) || denies('sealed', cheap) ? [] : checkEnvelope(authority, opened, decided)),
  ];
  const counted = decided === null || speaksAgainst(signatures) ? null : batches.witnesses(opened);
  const federation = [...grounds.problems, ...authority.problems, ...flooded(authority)];
  const problems = [...cheap, ...payload.problems, ...federation, ...decision, ...signatures, ...missing(counted)];
  const isSettled = federation.length === 0;
  const covering = isSettled ? (counted?.covering ?? null) : null;
  const facts: Facts = {
    ...stateOf(grounds, opened, payload, problems),
    onLedger: covering !== null,
    witnessed: isSettled && counted !== null && counted.vouching !== null,
    checkpoints: authority.signatures.isExhausted ? 'too-few' : checkpointsOf(counted),
  };
  const { envelope } = opened;
  const late = covering !== null && decided !== null && envelope !== null && isLate(envelope, decided.decision);
  const isPlaced = covering !== null || (isSettled && counted !== null && isInLog(authority, opened));
  return {
    facts,
    quorum: covering,
    isLate: late,
    index: isPlaced ? (decided?.decision.value.index ?? null) : null,
    problems,
  };
}

/** Without anybody to judge by, what hashes refuse is refused all the same, and nothing else is said. */
function unjudged(
  grounds: Grounds,
  opened: OpenedProof,
  payload: JudgedPayload,
  cheap: readonly Problem[],
): JudgedProof {
  const problems = [...cheap, ...payload.problems, ...grounds.problems];
  const state = stateOf(grounds, opened, payload, problems);
  const facts: Facts = { ...state, onLedger: false, witnessed: false, checkpoints: 'too-few' };
  return { facts, quorum: null, isLate: false, index: null, problems };
}

function stateOf(
  { authority, isPinned, problems: found }: Grounds,
  { proof, envelope }: OpenedProof,
  payload: JudgedPayload,
  problems: readonly Problem[],
): Omit<Facts, 'checkpoints' | 'onLedger' | 'witnessed'> {
  const judged = authority === null ? 'unjudged' : 'holds';
  const sealed = denies('sealed', problems) ? 'fails' : judged;
  const isForeign = denies('pin', found);
  const unproven = denies('rosters', problems) ? 'unproven' : 'in-force';
  return {
    signed: denies('signed', problems) ? 'fails' : judged,
    sealed: proof.batch === null ? null : sealed,
    decision: proof.decision === null ? 'absent' : decisionState(problems, authority !== null && envelope !== null),
    contradicted: denies('contradicted', problems),
    payload: payload.state,
    rosters: authority === null && !isForeign ? 'do-not-join' : unproven,
    pin: isForeign ? 'does-not-join' : pinState(isPinned),
  };
}

function pinState(isPinned: boolean): Facts['pin'] {
  return isPinned ? 'joins' : 'none';
}

function decisionState(problems: readonly Problem[], isJudged: boolean): DecisionState {
  const codes = new Set(problems.filter(({ fact }) => fact === 'onLedger').map(({ code }) => code));
  const mismatches = [
    'decision-malformed',
    'decision-mismatch',
    'decision-impossible',
    'decision-without-batch',
  ] as const;
  if (mismatches.some((code) => codes.has(code))) return 'mismatch';
  if (codes.has('misdated')) return 'misdated';
  return isJudged ? 'fits' : 'unjudged';
}

function denies(fact: Problem['fact'], problems: readonly Problem[]): boolean {
  return problems.some((one) => one.fact === fact);
}

/**
 * Whether anything denies that this is a signed record of a batch that was decided so: no witness is counted for it.
 */
function speaksAgainst(problems: readonly Problem[]): boolean {
  return (['signed', 'sealed', 'onLedger', 'contradicted'] as const).some((fact) => denies(fact, problems));
}

function decidedBatch({ envelope, decision }: OpenedProof): DecidedBatch | null {
  return envelope && decision && { node: envelope.node, batch: envelope.batch, decision };
}

function checkReceipt(authority: Authority, { proof, group }: OpenedProof, decided: DecidedBatch | null) {
  if (group === null) return [];
  const { text, signature } = proof.receipt;
  const { node, keyId, first } = group;
  const claim = { fact: 'signed', kind: groupStatement, text, signature, node, keyId, first } as const;
  return checkSignature(authority, { ...claim, ...whenDecided(authority, decided) });
}

function checkEnvelope(authority: Authority, { proof, envelope }: OpenedProof, decided: DecidedBatch | null) {
  if (envelope === null || proof.batch === null) return [];
  const { text, signature } = proof.batch;
  const { node, keyId } = envelope;
  const claim = { fact: 'sealed', kind: envelopeStatement, text, signature, node, keyId, first: undefined } as const;
  return checkSignature(authority, { ...claim, ...whenDecided(authority, decided) });
}

/** A decision that nobody shows has no time: anyone who holds a compromised key can write one. */
function whenDecided(authority: Authority, decided: DecidedBatch | null) {
  return {
    index: decided?.decision.value.index ?? null,
    decidedAt: () => {
      return decided !== null && isShownDecided(authority, decided) ? decided.decision.milliseconds : null;
    },
  };
}

/** Whether the verifier's own log has this very decision. */
function isInLog({ log }: Authority, { decision }: OpenedProof): boolean {
  return decision !== null && log?.decisionAt(decision.value.index) === decision.text;
}

function flooded({ signatures }: Authority): readonly Problem[] {
  if (!signatures.isExhausted) return [];
  return [problem('rosters', 'sigValid', 'too-many-faults', 'more signatures fail than are worth the checking')];
}

function checkpointsOf(counted: Witnesses | null): Facts['checkpoints'] {
  if (counted === null) return 'too-few';
  if (counted.vouching !== null) return 'enough';
  return counted.isStale ? 'stale' : 'too-few';
}

function missing(witnesses: Witnesses | null): readonly Problem[] {
  if (witnesses === null || witnesses.vouching !== null) return [];
  if (witnesses.isStale) {
    return [problem('witnessed', null, 'checkpoints-revoked', 'enough vouched for the batch, by keys revoked since')];
  }
  if (witnesses.covering === null) {
    return [problem('onLedger', null, 'too-few-checkpoints', 'checkpoints of too few members cover the decision')];
  }
  return [
    problem('witnessed', null, 'too-few-vouch', 'too few of the members that cover the decision vouch for the batch'),
  ];
}
