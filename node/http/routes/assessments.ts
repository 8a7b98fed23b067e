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
import { IMPACT_REFERENCES, RISK_REFERENCES } from '../../../protocol/compliance/references.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { RISK_LEVELS } from '../../../protocol/statement/vocabulary.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { Caller } from '../../accounts/caller.ts';
import type { AccountRecords } from '../../governance/account-records.ts';
import { ComplianceError } from '../../governance/compliance-error.ts';
import { governanceDraft } from '../../governance/governance-draft.ts';
import { readTimeOrDay, requirePast } from '../recording/asserted-times.ts';
import { type Recorder, recordingRoute } from '../recording/recording.ts';
import { recommendedWarnings } from '../recording/tiered-warnings.ts';
import type { KeyRoute } from '../route.ts';

const RECOMMENDED_RATINGS = ['low-risk', 'medium-risk', 'high-risk', 'critical-risk'];

export interface ImpactAssessmentServices {
  readonly recorder: Recorder;
  readonly records: Pick<AccountRecords, 'find'>;
}

/** `POST /v1/impact-assessment` (api-rules §4.2, EU AI Act Art. 27). */
export function impactAssessmentRoute({ recorder, records }: ImpactAssessmentServices): KeyRoute {
  return recordingRoute(recorder, {
    path: '/v1/impact-assessment',
    scope: 'governance:write',
    shape: ImpactAssessmentRequestShape,
    documentation: {
      summary: 'Records an impact assessment',
      description:
        'Of a system on the people it concerns, with the points of Art. 27(1) of the EU AI Act one by one. Free text stays ' +
        'in the payload, that it is given is signed; so is `firstUseAt`, as its first moment in UTC. What is assessed is ' +
        'not judged.',
      request: { shape: ImpactAssessmentRequestShape, example: IMPACT_ASSESSMENT_EXAMPLE.request },
      answer: { shape: ImpactAssessmentAnswerShape, example: IMPACT_ASSESSMENT_EXAMPLE.answer },
      problems: ['attestation-not-found'],
    },
    async record(work, submit) {
      const { sourceId, overallRating, firstUseAt: given, supersedes } = work.request;
      const account = work.caller.account.id;
      const firstUse = given === undefined ? undefined : readTimeOrDay('firstUseAt', given);
      const asserted = firstUse === undefined ? undefined : { firstUseAt: timestampOf(firstUse.first) };
      const before = supersedes === undefined ? undefined : await impactAssessment(records, work.caller, supersedes);
      return submit(
        governanceDraft(work, {
          kind: 'impact_assessment',
          account,
          sourceId,
          claims: { overallRating, asserted },
          links: { supersedes: before },
        }),
      );
    },
    answer: ({ record, envelope }) => ({
      ...envelope,
      assessmentId: objectId('impactAssessment', record.id),
      ...IMPACT_REFERENCES,
    }),
    warnings: ({ overallRating }) => recommendedWarnings('overallRating', overallRating, RECOMMENDED_RATINGS),
  });
}

/** Throws `ComplianceError` `attestation-not-found` where there is no impact assessment of this id. */
async function impactAssessment(
  records: Pick<AccountRecords, 'find'>,
  caller: Caller,
  text: string,
): Promise<RecordId> {
  const record = await records.find(caller, text);
  if (record?.kind === 'impact_assessment') return record.id;
  throw new ComplianceError('attestation-not-found', 'supersedes', 'there is no impact assessment of this id');
}

export interface AssessmentServices {
  readonly recorder: Recorder;
  readonly now: () => number;
}

/** `POST /v1/risk-assessment` (api-rules §4.2, §4.2). A new assessment is a new record. */
export function riskAssessmentRoute({ recorder, now }: AssessmentServices): KeyRoute {
  return recordingRoute(recorder, {
    path: '/v1/risk-assessment',
    scope: 'governance:write',
    shape: RiskAssessmentRequestShape,
    documentation: {
      summary: 'Records a risk assessment',
      description: 'Repeated assessments of a source show a continuous process. What is assessed is not judged.',
      request: { shape: RiskAssessmentRequestShape, example: RISK_ASSESSMENT_EXAMPLE.request },
      answer: { shape: RiskAssessmentAnswerShape, example: RISK_ASSESSMENT_EXAMPLE.answer },
      problems: ['time-in-future'],
    },
    async record(work, submit) {
      const { sourceId, residualRisk, assessmentDate, reviewDueAt } = work.request;
      const account = work.caller.account.id;
      if (assessmentDate !== undefined) {
        requirePast('assessmentDate', readTimeOrDay('assessmentDate', assessmentDate), now());
      }
      if (reviewDueAt !== undefined) readTimeOrDay('reviewDueAt', reviewDueAt);
      return submit(governanceDraft(work, { kind: 'risk_assessment', account, sourceId, claims: { residualRisk } }));
    },
    answer: ({ record, envelope }) => ({
      ...envelope,
      assessmentId: objectId('riskAssessment', record.id),
      ...RISK_REFERENCES,
    }),
    warnings: ({ residualRisk }) => recommendedWarnings('residualRisk', residualRisk, RISK_LEVELS),
  });
}
