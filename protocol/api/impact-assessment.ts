import Type from 'typebox';
import { IMPACT_REFERENCES } from '../compliance/references.ts';
import { Closed } from '../shapes.ts';
import { ENVELOPE_EXAMPLE, ENVELOPE_MEMBERS } from './envelope.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { SourceIdShape, TextShape } from './fields.ts';
import { ListOf, ObjectIdShape, PersonShape, TextListShape, WordShape } from './governance-fields.ts';

/** `POST /v1/impact-assessment`. */
export const ImpactAssessmentRequestShape = Type.Object({
  sourceId: SourceIdShape,
  intendedPurpose: TextShape(1, 4000),
  affectedStakeholders: Type.Optional(TextListShape(0)),
  potentialHarms: Type.Optional(TextListShape(0)),
  /** `low-risk`, `medium-risk`, `high-risk` or `critical-risk` are recommended. */
  overallRating: Type.Optional(WordShape),
  assessedBy: Type.Optional(PersonShape),
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
