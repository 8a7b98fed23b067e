import type { EvidenceAnswer } from '../../../protocol/api/evidence.ts';
import { evaluate } from '../../../protocol/evidence/rules.ts';
import type { Timestamp } from '../../../protocol/time.ts';
import type { Verdict } from '../../../protocol/verdict/verdict.ts';

/** What a verdict says of the evidence that a record shows. */
export type EvidenceVerdict = Pick<Verdict, 'accountStatements' | 'agent' | 'evidence' | 'speaks'>;

/** Of a record that cannot be read. */
export const NO_EVIDENCE: EvidenceVerdict = { evidence: null, agent: null, speaks: null, accountStatements: [] };

/** The flags of the evidence rules, the agent and who speaks, as answers carry them. Without a record's body nothing is shown. */
export function evidenceAnswer(
  { evidence, agent, speaks, accountStatements }: EvidenceVerdict,
  at: Timestamp,
): EvidenceAnswer {
  const { complianceStatus, complianceDetail } =
    evidence ?? evaluate({ record: null, sigValid: false, speaks: false }, [], at);
  const reasons = complianceDetail.reasons.map(({ key, satisfied, missing }) => ({
    key,
    satisfied,
    missing: [...missing],
  }));
  return {
    complianceStatus,
    complianceDetail: { ...complianceDetail, reasons },
    agent,
    speaks,
    accountStatements: [...accountStatements],
  };
}
