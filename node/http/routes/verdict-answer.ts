import type { EvidenceAnswer } from '../../../protocol/api/evidence.ts';
import type { PAYLOAD_STATES, ProblemsAnswer, VerdictAnswer } from '../../../protocol/api/verdict.ts';
import { evaluateFully } from '../../../protocol/evidence/recorded-evidence.ts';
import type { Timestamp } from '../../../protocol/time.ts';
import type { PayloadState } from '../../../protocol/verdict/payload.ts';
import type { Problem } from '../../../protocol/verdict/problem.ts';
import type { LedgerPlace, RecordVerdict, Verdict } from '../../../protocol/verdict/verdict.ts';

/** What a verdict says of the evidence that a record shows. */
type EvidenceVerdict = Pick<Verdict, 'accountStatements' | 'agent' | 'evidence' | 'speaks'>;

/** Of a record that cannot be read. */
export const NO_EVIDENCE: EvidenceVerdict = { evidence: null, agent: null, speaks: null, accountStatements: [] };

/**
 * What both sets of evidence rules find, the agent and who speaks, as answers carry them. Without a record's body nothing is
 * shown.
 */
export function evidenceAnswer(
  { evidence: found, agent, speaks, accountStatements }: EvidenceVerdict,
  at: Timestamp,
): EvidenceAnswer {
  const { complianceStatus, complianceDetail, evidence } =
    found ?? evaluateFully({ record: null, sigValid: false, speaks: false }, [], at);
  const reasons = complianceDetail.reasons.map(({ key, satisfied, missing }) => ({
    key,
    satisfied,
    missing: [...missing],
  }));
  return {
    complianceStatus,
    complianceDetail: { ...complianceDetail, reasons },
    evidence,
    agent,
    speaks,
    accountStatements: [...accountStatements],
  };
}

/** What a verdict comes to, and what it rests on, as answers carry it. */
export function verdictAnswer(verdict: RecordVerdict): VerdictAnswer {
  const { word, facts, ledger, restsOn, witnesses, federation, pinned } = verdict;
  return {
    word,
    facts,
    ledger: ledger && placeAnswer(ledger),
    anchoredLate: ledger?.isLate === true,
    restsOn,
    witnesses: [...witnesses],
    federation,
    pinned,
  };
}

export function problemsAnswer(problems: readonly Problem[]): ProblemsAnswer {
  return problems.map(({ fact, check, code, detail }) => ({ fact, check, code, detail }));
}

/** A payload that is not what its record commits to is there all the same: `problems` says what is wrong with it. */
export function payloadStateAnswer(state: PayloadState): (typeof PAYLOAD_STATES)[number] {
  return state === 'disclosed' || state === 'damaged' ? 'available' : state;
}

function placeAnswer({ network, topicId, sequence, consensusTimestamp, at }: LedgerPlace): VerdictAnswer['ledger'] {
  return { network, topicId, sequence, consensusTimestamp, at };
}
