import {
  HUMAN_OVERRIDE_EXAMPLE,
  HumanOverrideAnswerShape,
  HumanOverrideRequestShape,
} from '../../../protocol/api/human-override.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { OVERRIDE_REFERENCES } from '../../../protocol/compliance/references.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import type { AccountRecords } from '../../governance/account-records.ts';
import { ComplianceError } from '../../governance/compliance-error.ts';
import { governanceDraft } from '../../governance/governance-draft.ts';
import type { Reviews } from '../../governance/reviews.ts';
import type { Pseudonyms } from '../../governance/subjects.ts';
import { readTimeOrDay, requirePast } from '../recording/asserted-times.ts';
import { type Recorder, recordingRoute } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';

export interface HumanOverrideServices {
  readonly recorder: Recorder;
  readonly records: Pick<AccountRecords, 'find'>;
  readonly reviews: Pick<Reviews, 'reviewing'>;
  readonly pseudonyms: Pick<Pseudonyms, 'reviewer'>;
  readonly now: () => number;
}

/** `POST /v1/human-override` (api-rules §4.2, §4.2). The reviewer is in the record under a pseudonym alone. */
export function humanOverrideRoute({ recorder, records, reviews, pseudonyms, now }: HumanOverrideServices): KeyRoute {
  return recordingRoute(recorder, {
    path: '/v1/human-override',
    scope: 'governance:write',
    shape: HumanOverrideRequestShape,
    documentation: {
      summary: 'Records that a person looked at an output again',
      description:
        'The original is a record of the account, made on any node. With `allowUnresolved` a review of something that ' +
        'is not on record is recorded too, and counts for no article. The reviewer is signed under a pseudonym.',
      request: { shape: HumanOverrideRequestShape, example: HUMAN_OVERRIDE_EXAMPLE.request },
      answer: { shape: HumanOverrideAnswerShape, example: HUMAN_OVERRIDE_EXAMPLE.answer },
      problems: ['time-in-future', 'attestation-not-found'],
    },
    async record(work, submit) {
      const { request, caller } = work;
      const account = caller.account.id;
      const { sourceId, originalAttestationId, reviewedAt, reviewOutcome } = request;
      if (reviewedAt !== undefined) requirePast('reviewedAt', readTimeOrDay('reviewedAt', reviewedAt), now());
      const original = await records.find(caller, originalAttestationId);
      if (original === undefined && request.allowUnresolved !== true) throw notFound();
      const reviewer = pseudonyms.reviewer(account, request.reviewerId);
      const claims = { reviewer, reviewOutcome };
      const draft = (links: { readonly original?: AttestationRecord['id'] }) =>
        governanceDraft(work, { kind: 'human_override', account, sourceId, claims, links });
      if (original === undefined) return submit(draft({}), { reviewCount: 0, distinctReviewers: 0 });
      return reviews.reviewing(original, reviewer, (counts) => submit(draft({ original: original.id }), { ...counts }));
    },
    answer: ({ request, record, kept, envelope }) => ({
      ...envelope,
      overrideId: objectId('override', record.id),
      originalAttestationId: record.links.original ?? request.originalAttestationId,
      originalFound: record.links.original !== undefined,
      reviewCount: Number(kept.reviewCount),
      distinctReviewers: Number(kept.distinctReviewers),
      ...OVERRIDE_REFERENCES,
    }),
  });
}

function notFound(): ComplianceError {
  const detail =
    'there is no such record of the account that this API key reaches; allowUnresolved records the review all the same';
  return new ComplianceError('attestation-not-found', 'originalAttestationId', detail);
}
