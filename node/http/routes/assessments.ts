import {
  IMPACT_ASSESSMENT_EXAMPLE,
  ImpactAssessmentAnswerShape,
  ImpactAssessmentRequestShape,
} from '../../../protocol/api/impact-assessment.ts';
import {
  RISK_ASSESSMENT_EXAMPLE,
  RiskAssessmentAnswerShape,
  RiskAssessmentRequestShape,
} from '../../../protocol/api/risk-assessment.ts';
import type { Asserted } from '../../../protocol/chain/asserted.ts';
import type { LinkFacts } from '../../../protocol/chain/facts.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { IMPACT_REFERENCES, RISK_REFERENCES } from '../../../protocol/compliance/references.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { RISK_LEVELS, type RecordKind } from '../../../protocol/statement/vocabulary.ts';
import type { AccountRecords } from '../../governance/account-records.ts';
import { governanceDraft } from '../../governance/governance-draft.ts';
import { readTimeOrDay, requirePast } from '../recording/asserted-times.ts';
import { type Recorder, type RecordingRequest, recordingRoute } from '../recording/recording.ts';
import { recommendedWarnings } from '../recording/tiered-warnings.ts';
import type { KeyRoute } from '../route.ts';

export interface AssessmentServices {
  readonly recorder: Recorder;
  readonly records: Pick<AccountRecords, 'requireOfKind'>;
  readonly now: () => number;
}

const RECOMMENDED_RATINGS = ['low-risk', 'medium-risk', 'high-risk', 'critical-risk'];

/** `POST /v1/impact-assessment` (api-rules §4.2, §4.2). */
export function impactAssessmentRoute({ recorder, records }: AssessmentServices): KeyRoute {
  return recordingRoute(recorder, {
    path: '/v1/impact-assessment',
    scope: 'governance:write',
    shape: ImpactAssessmentRequestShape,
    documentation: {
      summary: 'Records an impact assessment',
      description:
        'Of a system on the people it concerns; the members of EU AI Act Art. 27(1)(a) to (f) one by one. What is ' +
        'assessed is not judged. A revision `supersedes` the one before.',
      request: { shape: ImpactAssessmentRequestShape, example: IMPACT_ASSESSMENT_EXAMPLE.request },
      answer: { shape: ImpactAssessmentAnswerShape, example: IMPACT_ASSESSMENT_EXAMPLE.answer },
      problems: ['attestation-not-found'],
    },
    async record(work, submit) {
      const { sourceId, overallRating, firstUseAt } = work.request;
      const account = work.caller.account.id;
      const claims = { overallRating, asserted: assertedOf(work.request, { firstUseAt }) };
      const links = await revised(records, work, 'impact_assessment');
      return submit(governanceDraft(work, { kind: 'impact_assessment', account, sourceId, claims, links }));
    },
    answer: ({ record, envelope }) => ({
      ...envelope,
      assessmentId: objectId('impactAssessment', record.id),
      ...IMPACT_REFERENCES,
    }),
    warnings: ({ overallRating }) => recommendedWarnings('overallRating', overallRating, RECOMMENDED_RATINGS),
  });
}

/** `POST /v1/risk-assessment` (api-rules §4.2, §4.2). A new assessment is a new record. */
export function riskAssessmentRoute({ recorder, records, now }: AssessmentServices): KeyRoute {
  return recordingRoute(recorder, {
    path: '/v1/risk-assessment',
    scope: 'governance:write',
    shape: RiskAssessmentRequestShape,
    documentation: {
      summary: 'Records a risk assessment',
      description: 'Repeated assessments of a source show a continuous process. What is assessed is not judged.',
      request: { shape: RiskAssessmentRequestShape, example: RISK_ASSESSMENT_EXAMPLE.request },
      answer: { shape: RiskAssessmentAnswerShape, example: RISK_ASSESSMENT_EXAMPLE.answer },
      problems: ['time-in-future', 'attestation-not-found'],
    },
    async record(work, submit) {
      const { sourceId, residualRisk, assessmentDate, reviewDueAt } = work.request;
      const account = work.caller.account.id;
      if (assessmentDate !== undefined) {
        requirePast('assessmentDate', readTimeOrDay('assessmentDate', assessmentDate), now());
      }
      const claims = { residualRisk, asserted: assertedOf(work.request, { reviewDueAt }) };
      const links = await revised(records, work, 'risk_assessment');
      return submit(governanceDraft(work, { kind: 'risk_assessment', account, sourceId, claims, links }));
    },
    answer: ({ record, envelope }) => ({
      ...envelope,
      assessmentId: objectId('riskAssessment', record.id),
      ...RISK_REFERENCES,
    }),
    warnings: ({ residualRisk }) => recommendedWarnings('residualRisk', residualRisk, RISK_LEVELS),
  });
}

/** What is signed of the system and of these times. Throws `Problem` where one of them is none. */
function assertedOf(
  { systemRef }: { readonly systemRef?: string },
  times: Readonly<Partial<Record<'firstUseAt' | 'reviewDueAt', string | undefined>>>,
): Asserted | undefined {
  const asserted: Asserted = systemRef === undefined ? {} : { systemRef };
  for (const name of ['firstUseAt', 'reviewDueAt'] as const) {
    const time = times[name];
    if (time !== undefined) asserted[name] = timestampOf(readTimeOrDay(name, time).first);
  }
  return Object.keys(asserted).length === 0 ? undefined : asserted;
}

/** The assessment that this one revises. Throws `ComplianceError`. */
async function revised(
  records: AssessmentServices['records'],
  { request, caller }: RecordingRequest<{ readonly supersedes?: string }>,
  kind: RecordKind,
): Promise<LinkFacts> {
  const { supersedes } = request;
  if (supersedes === undefined) return {};
  return { supersedes: (await records.requireOfKind(caller, supersedes, kind, 'supersedes')).id };
}
