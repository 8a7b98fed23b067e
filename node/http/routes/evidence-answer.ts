import type { EvidenceAnswer } from '../../../protocol/api/evidence.ts';
import { evaluate } from '../../../protocol/evidence/rules.ts';
import type { Timestamp } from '../../../protocol/time.ts';
import type { Verdict } from '../../../protocol/verdict/verdict.ts';

/** The flags of the evidence rules and the agent, as answers carry them. Without a record's body nothing is shown. */
export function evidenceAnswer({ evidence, agent }: Pick<Verdict, 'agent' | 'evidence'>, at: Timestamp): EvidenceAnswer {
  const { complianceStatus, complianceDetail } = evidence ?? evaluate({ record: null, sigValid: false }, [], at);
  const reasons = complianceDetail.reasons.map(({ key, satisfied, missing }) => ({
    key,
    satisfied,
    missing: [...missing],
  }));
  return { complianceStatus, complianceDetail: { ...complianceDetail, reasons }, agent };
}
