import {
  IMPACT_ASSESSMENT_EXAMPLE,
  ImpactAssessmentAnswerShape,
  ImpactAssessmentRequestShape,
} from '../../../protocol/api/impact-assessment.ts';
import { IMPACT_REFERENCES } from '../../../protocol/compliance/references.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { governanceDraft } from '../../governance/governance-draft.ts';
import { recommendedWarnings } from '../recording/recommended.ts';
import type { Recorder } from '../recording/recorder.ts';
import { recordingRoute } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';

const RECOMMENDED_RATINGS = ['low-risk', 'medium-risk', 'high-risk', 'critical-risk'];

/** `POST /v1/impact-assessment` (SPEC §4.2 rule 4, DOMAIN §3.2). */
export function impactAssessmentRoute({ recorder }: { readonly recorder: Recorder }): KeyRoute {
  return recordingRoute(recorder, {
    path: '/v1/impact-assessment',
    scope: 'governance:write',
    shape: ImpactAssessmentRequestShape,
    documentation: {
      summary: 'Records an impact assessment',
      description: 'Of a system on the people it concerns. What is assessed is not judged.',
      request: { shape: ImpactAssessmentRequestShape, example: IMPACT_ASSESSMENT_EXAMPLE.request },
      answer: { shape: ImpactAssessmentAnswerShape, example: IMPACT_ASSESSMENT_EXAMPLE.answer },
      problems: [],
    },
    record(work, submit) {
      const { sourceId, overallRating } = work.request;
      const account = work.caller.account.id;
      return submit(governanceDraft(work, { kind: 'impact_assessment', account, sourceId, claims: { overallRating } }));
    },
    answer: ({ record, envelope }) => ({
      ...envelope,
      assessmentId: objectId('impactAssessment', record.id),
      ...IMPACT_REFERENCES,
    }),
    warnings: ({ overallRating }) => recommendedWarnings('overallRating', overallRating, RECOMMENDED_RATINGS),
  });
}
