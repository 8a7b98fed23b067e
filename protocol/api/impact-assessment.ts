import Type from 'typebox';
import { IMPACT_REFERENCES } from '../compliance/references.ts';
import { Closed } from '../shapes.ts';
import { ENVELOPE_EXAMPLE, ENVELOPE_MEMBERS } from './envelope.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { SourceIdShape, TextShape } from './fields.ts';
import { IdTextShape, ListOf, ObjectIdShape, PersonShape, TextListShape, WordShape } from './governance-fields.ts';
import { TimeOrDayShape } from './times.ts';

const MAX_TEXT = 4000;
const MAX_REFERENCE = 256;

/** `POST /v1/impact-assessment`. */
export const ImpactAssessmentRequestShape = Type.Object({
  sourceId: SourceIdShape,
  intendedPurpose: TextShape(1, 4000),
  affectedStakeholders: Type.Optional(TextListShape(0)),
  potentialHarms: Type.Optional(TextListShape(0)),
  /** `low-risk`, `medium-risk`, `high-risk` or `critical-risk` are recommended. */
  overallRating: Type.Optional(WordShape),
  assessedBy: Type.Optional(PersonShape),

  /** What Art. 27(1)(a) to (f) of the EU AI Act asks for, one by one. */
  processes: Type.Optional(TextShape(1, MAX_TEXT)),
  /** Period and frequency of use. */
  usePeriod: Type.Optional(TextShape(1, MAX_TEXT)),
  affectedGroups: Type.Optional(TextListShape(0)),
  specificRisks: Type.Optional(TextListShape(0)),
  oversightMeasures: Type.Optional(TextShape(1, MAX_TEXT)),
  /** If the risks materialise: governance and complaints among them. */
  riskMeasures: Type.Optional(TextShape(1, MAX_TEXT)),
  /** First use of the system, past or to come. */
  firstUseAt: Type.Optional(TimeOrDayShape),
  /** The data protection impact assessment that this one refers to, Art. 27(4). */
  dpiaRef: Type.Optional(TextShape(1, MAX_REFERENCE)),
  /** The impact assessment that this one replaces. */
  supersedes: Type.Optional(IdTextShape),
});

export const ImpactAssessmentAnswerShape = Closed({
  ...ENVELOPE_MEMBERS,
  assessmentId: ObjectIdShape,
  isoClause: Type.Literal(IMPACT_REFERENCES.isoClause),
  isoClauses: ListOf(...IMPACT_REFERENCES.isoClauses),
  standard: Type.Literal(IMPACT_REFERENCES.standard),
  articles: ListOf(...IMPACT_REFERENCES.articles),
  relatedArticles: ListOf(...IMPACT_REFERENCES.relatedArticles),
});

export const IMPACT_ASSESSMENT_EXAMPLE = {
  request: {
    sourceId: EXAMPLE_IDS.source,
    intendedPurpose: 'Proposes whether a consumer loan is granted; a person decides on refusals.',
    affectedStakeholders: ['Applicants', 'Guarantors'],
    potentialHarms: ['Unjustified refusal', 'Over-indebtedness'],
    overallRating: 'medium-risk',
    assessedBy: 'model-risk',
    processes: 'Applications for consumer loans in branches and online.',
    usePeriod: 'Every application, on working days, from December 2027 on.',
    affectedGroups: ['Applicants', 'Applicants without a credit history'],
    specificRisks: ['Refusal of groups that the training data hardly know'],
    oversightMeasures: 'A loan officer decides on every refusal and may stop the system.',
    riskMeasures: 'Complaints go to the credit ombudsman; use is suspended by the head of retail risk.',
    firstUseAt: '2027-12-02',
    dpiaRef: 'DPIA-2026-014',
  },
  answer: {
    ...ENVELOPE_EXAMPLE,
    attestationId: EXAMPLE_IDS.impactAssessmentRecord,
    verifyUrl: `https://eu.example/v1/verify/${EXAMPLE_IDS.impactAssessmentRecord}`,
    assessmentId: EXAMPLE_IDS.impactAssessment,
    ...IMPACT_REFERENCES,
  },
} as const;
