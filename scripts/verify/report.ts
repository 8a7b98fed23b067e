import { CHECKS, type Verdict } from '../../protocol/bundle/verdict.ts';

const MARKS = { true: '✓', false: '✗' } as const;

/**
 * What a person reads of a verdict, line by line. `anchor`: where on the ledger, null without one. `pinned`: whether a
 * roster was there to compare the bundle's with.
 */
export function reportOf(verdict: Verdict, anchor: string | null, pinned: boolean): readonly string[] {
  const { record, witnessed, verified, federation, status } = verdict;
  return [
    ...(record === null ? [] : [`${record.id} · ${record.kind} · node ${record.node} · ${record.submittedAt}`]),
    ...checkLines(verdict),
    `  ${MARKS[`${witnessed}`]} witnessed by a quorum`,
    ...linkedLines(verdict),
    ...evidenceLines(verdict),
    ...agentLines(verdict),
    `anchor      ${anchor === null ? `none; ${status}` : `${anchor} (consistent; offline nobody witnesses the ledger)`}`,
    `federation  ${federation ?? 'unreadable'}${pinned ? '' : ' (not pinned: compare it with a published one)'}`,
    verified ? 'verified' : 'NOT VERIFIED',
  ];
}

function checkLines({ checks, payloadState, problems }: Verdict): readonly string[] {
  const lines = CHECKS.map((check) => {
    const isWithheld = check === 'payloadHashMatch' && payloadState !== 'available';
    return isWithheld ? `  – ${check} (payload ${payloadState})` : `  ${MARKS[`${checks[check]}`]} ${check}`;
  });
  return [...lines, ...problems.map(({ check, code, detail }) => `    ${check}: ${code}: ${detail}`)];
}

function linkedLines({ linked }: Verdict): readonly string[] {
  if (linked.length === 0) return [];
  const lines = linked.flatMap(({ id, kind, holds, problems }) => [
    `  ${MARKS[`${holds}`]} ${id ?? 'unreadable'}${kind === null ? '' : ` · ${kind}`}`,
    ...problems.map(({ check, code, detail }) => `      ${check}: ${code}: ${detail}`),
  ]);
  return ['linked records', ...lines];
}

function evidenceLines({ complianceDetail }: Verdict): readonly string[] {
  const { ruleSet, meaning, reasons } = complianceDetail;
  const lines = reasons.map(({ key, satisfied, missing }) =>
    satisfied ? `  ✓ ${key}` : `  – ${key} (missing ${missing.join(', ')})`,
  );
  return [`evidence    ${ruleSet}: ${meaning}`, ...lines];
}

/** Only a valid signature makes a record the agent's. */
function agentLines({ agent }: Verdict): readonly string[] {
  if (agent === null) return [];
  const { agentId, signature } = agent;
  const said = {
    valid: 'signed by the agent',
    invalid: 'NOT signed by the agent',
    'unknown-key': 'agent’s key unknown',
  };
  return [`agent       ${agentId ?? 'unnamed'} (${said[signature]})`];
}
