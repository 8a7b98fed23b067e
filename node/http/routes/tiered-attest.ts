import { TIERED_ATTEST_EXAMPLE, TieredAttestAnswerShape } from '../../../protocol/api/attest-answer.ts';
import { TieredAttestRequestShape } from '../../../protocol/api/tiered-attest.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { anchorExpectedBy } from '../../verification/attestation/anchoring-promise.ts';
import { tieredDraft } from '../../verification/attestation/decision-drafts.ts';
import { LEAF_TIER } from '../../verification/attestation/leaf-tier.ts';
import { payloadHandle } from '../../verification/attestation/payload-handle.ts';
import { recordingRoute } from '../recording/recording.ts';
import { requireSmallData } from '../recording/sizes.ts';
import { TIERED_CODES, tieredWarnings } from '../recording/tiered-warnings.ts';
import type { KeyRoute } from '../route.ts';
import { type DecisionServices, LINK_PROBLEMS, submitDecision } from './decisions.ts';

/** `POST /v1/tiered-attest` (SPEC §2.2, DOMAIN §3.2): one decision as a leaf, answered once signed and on the disk. */
export function tieredAttestRoute(services: DecisionServices): KeyRoute {
  return recordingRoute(services.recorder, {
    path: '/v1/tiered-attest',
    scope: 'attest:write',
    shape: TieredAttestRequestShape,
    documentation: {
      summary: 'Records one decision as a leaf',
      description: 'For volume, on every tier. Has no rule against duplicates: use `Idempotency-Key` to repeat safely.',
      request: { shape: TieredAttestRequestShape, example: TIERED_ATTEST_EXAMPLE.request },
      answer: { shape: TieredAttestAnswerShape, example: TIERED_ATTEST_EXAMPLE.answer },
      problems: ['model-binding-invalid', ...LINK_PROBLEMS],
    },
    codes: TIERED_CODES,
    async record(work, submit) {
      const draft = tieredDraft(work.caller.account.id, work);
      requireSmallData(draft.decision.data);
      return submitDecision(services, work, draft, submit);
    },
    answer: ({ record, caller, envelope: { success, attestationId, status, submittedAt, verifyUrl, warnings } }) => ({
      success,
      attestationId,
      tier: LEAF_TIER,
      status,
      payloadKey: payloadHandle(record.id),
      submittedAt,
      payloadHash: record.payloadHash,
      verifyUrl,
      warnings,
      anchorExpectedBy: timestampOf(anchorExpectedBy(record, caller.account.tier)),
    }),
    warnings: tieredWarnings,
  });
}
