import { TieredAttestRequestShape } from '../../../protocol/api/tiered-attest.ts';
import { LEAF_TIER } from '../../attestation/leaf-tier.ts';
import { payloadHandle } from '../../attestation/payload-handle.ts';
import { tieredDraft } from '../../attestation/decision-drafts.ts';
import { readJsonBody } from '../body.ts';
import type { KeyRoute } from '../route.ts';
import { unknownMembers, validator } from '../validation.ts';
import {
  additionalWarnings,
  type Attesting,
  body,
  checkSession,
  requireSmall,
  settle,
  submitOnce,
} from './attesting.ts';

/** A binding to a model that is not of the documented form is refused, never dropped (SPEC §4.2 rule 7). */
const validate = validator(TieredAttestRequestShape, { model_ref: 'model-binding-invalid' });
const KNOWN = new Set(Object.keys(TieredAttestRequestShape.properties));

/** ISO 3166-1 or 3166-2 codes, and `EU`. Others are signed all the same. */
const JURISDICTION = /^[A-Z]{2}(-[A-Z0-9]{1,3})?$/;

/** `POST /v1/tiered-attest` (SPEC §2.2, DOMAIN §3.2): one decision as a leaf, answered once signed and on the disk. */
export function tieredAttestRoute(attesting: Attesting): KeyRoute {
  return {
    method: 'POST',
    path: '/v1/tiered-attest',
    access: 'key',
    async answer({ context }, account) {
      const { value } = await readJsonBody(context.req, body);
      const request = validate(value);
      const additional = unknownMembers(value, KNOWN);
      checkSession(request.sessionId);
      const draft = tieredDraft(account.id, { request, body: value, additional });
      requireSmall(draft, additional);
      const record = await submitOnce(attesting, context, draft);
      return settle(attesting, context, account, record, {
        success: true,
        attestationId: record.id,
        tier: LEAF_TIER,
        status: 'buffered',
        payloadKey: payloadHandle(record.id),
        submittedAt: record.submittedAt,
        payloadHash: record.payloadHash,
        verifyUrl: attesting.verifyUrl(record.id),
        warnings: [...additionalWarnings(additional), ...jurisdictionWarnings(request.complianceMeta?.jurisdiction)],
      });
    },
  };
}

function jurisdictionWarnings(jurisdiction: readonly string[] = []): string[] {
  return jurisdiction
    .filter((code) => !JURISDICTION.test(code))
    .map((code) => `complianceMeta.jurisdiction: ${JSON.stringify(code)} is not an ISO 3166 code; signed as given`);
}
