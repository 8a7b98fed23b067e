import type { PAYLOAD_STATES, ProblemsAnswer, VerdictAnswer } from '../../../protocol/api/verdict.ts';
import type { PayloadState } from '../../../protocol/verdict/payload.ts';
import type { Problem } from '../../../protocol/verdict/problem.ts';
import type { LedgerPlace, RecordVerdict } from '../../../protocol/verdict/verdict.ts';

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
