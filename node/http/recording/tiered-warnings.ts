import type { TieredAttestRequest } from '../../../protocol/api/tiered-attest.ts';
import type { FieldCodes } from '../validation.ts';
import { assertedClauseWarnings } from '../../verification/attestation/asserted-clause.ts';

/** A binding to a model that is not of the documented form is refused, never dropped (SPEC §4.2 rule 7). */
export const TIERED_CODES: FieldCodes = { model_ref: 'model-binding-invalid' };

/** ISO 3166-1 or 3166-2 codes, and `EU`. Others are signed all the same. */
const JURISDICTION = /^[A-Z]{2}(-[A-Z0-9]{1,3})?$/;

/** What the caller should know of a tiered decision that is signed all the same. */
export function tieredWarnings({
  complianceMeta,
  data,
}: Pick<TieredAttestRequest, 'complianceMeta' | 'data'>): readonly string[] {
  const codes = complianceMeta?.jurisdiction ?? [];
  return [
    ...codes
      .filter((code) => !JURISDICTION.test(code))
      .map((code) => `complianceMeta.jurisdiction: ${JSON.stringify(code)} is not an ISO 3166 code; signed as given`),
    ...assertedClauseWarnings(complianceMeta?.serviceEventType, data),
  ];
}
