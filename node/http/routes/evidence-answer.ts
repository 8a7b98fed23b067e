import type { FindingsAnswer } from '../../../protocol/api/checks.ts';
import type { EvidenceAnswer } from '../../../protocol/api/evidence.ts';
import type { AgentVerdict } from '../../../protocol/evidence/agent.ts';
import type { Evaluation } from '../../../protocol/evidence/rules.ts';
import type { Finding } from '../../../protocol/bundle/verdict.ts';

/** The flags of the evidence rules and the agent, as answers carry them. No reviewer is in them. */
export function evidenceAnswer({
  complianceStatus,
  complianceDetail,
  agent,
}: Evaluation & { readonly agent: AgentVerdict | null }): EvidenceAnswer {
  const reasons = complianceDetail.reasons.map(({ key, satisfied, missing }) => ({
    key,
    satisfied,
    missing: [...missing],
  }));
  return { complianceStatus, complianceDetail: { ...complianceDetail, reasons }, agent };
}

export function findingsAnswer(findings: readonly Finding[]): FindingsAnswer {
  return findings.map(({ check, code, detail }) => ({ check, code, detail }));
}
