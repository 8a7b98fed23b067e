import Type from 'typebox';
import { ACTION_REFERENCES } from '../compliance/references.ts';
import { Closed, OrdinalShape, OrNull } from '../shapes.ts';
import { ACTION_STATUSES } from '../statement/vocabulary.ts';
import { ENVELOPE_EXAMPLE, ENVELOPE_MEMBERS } from './envelope.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { SourceIdShape, TextShape } from './fields.ts';
import { TimeOrDayShape } from './times.ts';
import { IdTextShape, ListOf, ObjectIdShape, PageShape, PersonShape, TextListShape } from './governance-fields.ts';

/** `POST /v1/corrective-action`: a new action, or with `correctiveActionId` the next step of one. */
export const CorrectiveActionRequestShape = Type.Object({
  sourceId: SourceIdShape,
  nonconformityDescription: TextShape(1, 4000),
  /** Of a new action. A step keeps the incident of the first. */
  incidentId: Type.Optional(IdTextShape),
  rootCause: Type.Optional(PageShape),
  correctiveActions: Type.Optional(TextListShape(0)),
  implementedBy: Type.Optional(PersonShape),
  /** `planned` where none is given. */
  status: Type.Optional(Type.Enum([...ACTION_STATUSES])),
  correctiveActionId: Type.Optional(IdTextShape),
  effectivenessEvidence: Type.Optional(PageShape),
  /** Until when it is to be done, and since when the system is suspended: EU AI Act Art. 20. */
  dueAt: Type.Optional(TimeOrDayShape),
  suspendedAt: Type.Optional(TimeOrDayShape),
  /** What was done to the system. */
  measure: Type.Optional(Type.Enum(['corrected', 'withdrawn', 'disabled', 'recalled'])),
});

export const CorrectiveActionAnswerShape = Closed({
  ...ENVELOPE_MEMBERS,
  correctiveActionId: ObjectIdShape,
  incidentId: OrNull(ObjectIdShape),
  actionStatus: Type.Enum([...ACTION_STATUSES]),
  revision: OrdinalShape,
  isoClause: Type.Literal(ACTION_REFERENCES.isoClause),
  isoClauses: ListOf(...ACTION_REFERENCES.isoClauses),
  standard: Type.Literal(ACTION_REFERENCES.standard),
  articles: ListOf(...ACTION_REFERENCES.articles),
  relatedArticles: ListOf(...ACTION_REFERENCES.relatedArticles),
});

export const CORRECTIVE_ACTION_EXAMPLE = {
  request: {
    sourceId: EXAMPLE_IDS.source,
    incidentId: EXAMPLE_IDS.incident,
    nonconformityDescription: 'Refusals were sent out without the review that the procedure asks for.',
    rootCause: 'The review queue was skipped after a change of configuration.',
    correctiveActions: ['Queue restored', 'Refusals of both days reviewed'],
    implementedBy: 'staff-0733',
    status: 'implemented',
  },
  answer: {
    ...ENVELOPE_EXAMPLE,
    attestationId: EXAMPLE_IDS.correctiveActionRecord,
    verifyUrl: `https://eu.example/v1/verify/${EXAMPLE_IDS.correctiveActionRecord}`,
    correctiveActionId: EXAMPLE_IDS.correctiveAction,
    incidentId: EXAMPLE_IDS.incident,
    actionStatus: 'implemented',
    revision: 1,
    ...ACTION_REFERENCES,
  },
} as const;
