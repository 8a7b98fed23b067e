import Type from 'typebox';
import { RISK_REFERENCES } from '../compliance/references.ts';
import { Closed } from '../shapes.ts';
import { ENVELOPE_EXAMPLE, ENVELOPE_MEMBERS } from './envelope.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { SourceIdShape, TextShape } from './fields.ts';
import { IdTextShape, ListOf, ObjectIdShape, PersonShape, TextListShape, WordShape } from './governance-fields.ts';
import { TimeOrDayShape } from './times.ts';

const MAX_RISKS = 100;

/** One risk, and what is done about it. */
const RiskShape = Type.Object(
  {
    risk: TextShape(1, 2000),
    likelihood: Type.Optional(WordShape),
    severity: Type.Optional(WordShape),
    measure: Type.Optional(TextShape(1, 2000)),
    residual: Type.Optional(WordShape),
    accepted: Type.Optional(Type.Boolean()),
  },
  { title: 'AssessedRisk', additionalProperties: false },
);

/** `POST /v1/risk-assessment`. */
export const RiskAssessmentRequestShape = Type.Object({
  sourceId: SourceIdShape,
  risksIdentified: TextListShape(1),
  mitigations: Type.Optional(TextListShape(0)),
  /** `low`, `medium`, `high` or `critical` are recommended. */
  residualRisk: Type.Optional(WordShape),
  assessedBy: Type.Optional(PersonShape),
  assessmentDate: Type.Optional(TimeOrDayShape),
  reviewDueAt: Type.Optional(TimeOrDayShape),
  /** The same risks one by one. */
  risks: Type.Optional(Type.Array(RiskShape, { minItems: 1, maxItems: MAX_RISKS })),
  /** EU AI Act Art. 9(2)(b) and 9(9). */
  foreseeableMisuse: Type.Optional(TextListShape(1)),
  minorsConsidered: Type.Optional(Type.Boolean()),
  systemRef: Type.Optional(TextShape(1, 256)),
  /** The assessment that this one revises. */
  supersedes: Type.Optional(IdTextShape),
});

export const RiskAssessmentAnswerShape = Closed({
  ...ENVELOPE_MEMBERS,
  assessmentId: ObjectIdShape,
  isoClause: Type.Literal(RISK_REFERENCES.isoClause),
  isoClauses: ListOf(...RISK_REFERENCES.isoClauses),
  standard: Type.Literal(RISK_REFERENCES.standard),
  articles: ListOf(...RISK_REFERENCES.articles),
});

export const RISK_ASSESSMENT_EXAMPLE = {
  request: {
    sourceId: EXAMPLE_IDS.source,
    risksIdentified: ['Indirect discrimination by postal code', 'Drift after a change of interest rates'],
    mitigations: ['Postal code removed from the features', 'Monthly stability report'],
    residualRisk: 'medium',
    assessedBy: 'model-risk',
    assessmentDate: '2026-11-20',
    reviewDueAt: '2027-05-20',
  },
  answer: {
    ...ENVELOPE_EXAMPLE,
    attestationId: EXAMPLE_IDS.riskAssessmentRecord,
    verifyUrl: `https://eu.example/v1/verify/${EXAMPLE_IDS.riskAssessmentRecord}`,
    assessmentId: EXAMPLE_IDS.riskAssessment,
    ...RISK_REFERENCES,
  },
} as const;
