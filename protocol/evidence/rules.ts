import type { AttestationRecord } from '../statement/record.ts';

/**
 * Rule set `evidence-rules/1`: what signed records show, never what a payload says and never a legal judgement.
 * Evidence recorded for a clause of the EU AI Act. Booleans, never null: what is not shown is false.
 */
export interface ComplianceStatus {
  readonly article12_1: boolean;
  readonly article12_2: boolean;
  readonly article12_3b: boolean;
  readonly article14: boolean;
}

/**
 * Evidence that one signed record shows by itself. `sigValid`: whether its signatures held; if not, it shows nothing.
 * Article 14 needs a linked human override, which no record kind of this version makes.
 */
export function complianceStatus(record: AttestationRecord, sigValid: boolean): ComplianceStatus {
  const { claims } = record;
  const article12_1 = sigValid && isOrderedEvent(record);
  const isBound = isGiven(claims.modelId) && isGiven(claims.modelVersion) && claims.inputHash !== undefined;
  return {
    article12_1,
    article12_2: article12_1 && isBound && (isGiven(claims.riskLevel) || claims.confidenceScore !== undefined),
    article12_3b: article12_1 && (claims.referenceDatabase ?? []).some((database) => isGiven(database.id)),
    article14: false,
  };
}

/** An automatically recorded, time-stamped, ordered event of a named source. */
function isOrderedEvent({ submittedAt, sourceId, sourceSeq }: AttestationRecord): boolean {
  return submittedAt.length > 0 && sourceId.length > 0 && sourceSeq >= 1;
}

function isGiven(text: string | undefined): boolean {
  return text !== undefined && text !== '';
}
