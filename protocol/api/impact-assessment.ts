import Type from 'typebox';
import { IMPACT_REFERENCES } from '../compliance/references.ts';
import { Closed } from '../shapes.ts';
import { ENVELOPE_EXAMPLE, ENVELOPE_MEMBERS } from './envelope.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { SourceIdShape, TextShape } from './fields.ts';
import { IdTextShape, ListOf, ObjectIdShape, PersonShape, TextListShape, WordShape } from './governance-fields.ts';
import { TimeOrDayShape } from './times.ts';

/** `POST /v1/impact-assessment`. */
export const ImpactAssessmentRequestShape = Type.Object({
  sourceId: SourceIdShape,
  intendedPurpose: TextShape(1, 4000),
  affectedStakeholders: Type.Optional(TextListShape(0)),
  potentialHarms: Type.Optional(TextListShape(0)),
  /** `low-risk`, `medium-risk`, `high-risk` or `critical-risk` are recommended. */
  overallRating: Type.Optional(WordShape),
  assessedBy: Type.Optional(PersonShape),
  /** EU AI Act Art. 27(1)(a)–(f), one by one. */
  processes: Type.Optional(TextShape(1, 4000)),
  usePeriod: Type.Optional(TextShape(1, 1000)),
  affectedGroups: Type.Optional(TextListShape(1)),
  specificRisks: Type.Optional(TextListShape(1)),
  oversightMeasures: Type.Optional(TextListShape(1)),
  riskMeasures: Type.Optional(TextListShape(1)),
  firstUseAt: Type.Optional(TimeOrDayShape),
  /** The data protection impact assessment that it refers to. */
  dpiaRef: Type.Optional(TextShape(1, 256)),
  systemRef: Type.Optional(TextShape(1, 256)),
  /** The assessment that this one revises. */
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
  },
  answer: {
    ...ENVELOPE_EXAMPLE,
    attestationId: EXAMPLE_IDS.impactAssessmentRecord,
    verifyUrl: `https://eu.example/v1/verify/${EXAMPLE_IDS.impactAssessmentRecord}`,
    assessmentId: EXAMPLE_IDS.impactAssessment,
    ...IMPACT_REFERENCES,
  },
} as const;
