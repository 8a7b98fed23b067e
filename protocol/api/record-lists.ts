import Type, { type Static, type TProperties } from 'typebox';
import { Closed, CountShape, CursorShape, OrdinalShape, OrNull, RecordIdShape, TimestampShape } from '../shapes.ts';
import { ACTION_STATUSES, REVIEW_OUTCOMES } from '../statement/vocabulary.ts';
import { MAX_ATTESTATIONS_PAGE } from './attestations.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { SourceIdShape } from './fields.ts';
import { ObjectIdShape } from './governance-fields.ts';
import { TimeOrDayShape } from './times.ts';

/** `GET /v1/sessions`, `/v1/reviews`, `/v1/assessments`, `/v1/corrective-actions`. `from` is included, `to` is not. */
export const RecordListQueryShape = Closed({
  sourceId: Type.Optional(SourceIdShape),
  from: Type.Optional(TimeOrDayShape),
  to: Type.Optional(TimeOrDayShape),
  cursor: Type.Optional(CursorShape),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ATTESTATIONS_PAGE })),
});

/** What every item of these lists has. */
const COMMON = {
  attestationId: RecordIdShape,
  sourceId: Type.String(),
  sourceSeq: OrdinalShape,
  submittedAt: TimestampShape,
};

const SessionItemShape = Closed(
  {
    ...COMMON,
    sessionId: ObjectIdShape,
    /** Null of one that has not ended. */
    endedAt: OrNull(TimestampShape),
    endAttestationId: OrNull(RecordIdShape),
    /** Decisions recorded within it so far. */
    recordedDecisionCount: CountShape,
  },
  { title: 'SessionItem' },
);
export type SessionItem = Static<typeof SessionItemShape>;

const ReviewItemShape = Closed(
  {
    ...COMMON,
    overrideId: ObjectIdShape,
    /** Null where what was looked at is not on record here. */
    originalAttestationId: OrNull(RecordIdShape),
    /** Under a pseudonym of the account at this node. */
    reviewer: OrNull(Type.String()),
    reviewOutcome: OrNull(Type.Enum([...REVIEW_OUTCOMES])),
  },
  { title: 'ReviewItem' },
);
export type ReviewItem = Static<typeof ReviewItemShape>;

const AssessmentItemShape = Closed(
  {
    ...COMMON,
    assessmentId: ObjectIdShape,
    type: Type.Enum(['impact', 'risk']),
    /** `residualRisk` of a risk assessment, `overallRating` of an impact assessment. */
    rating: OrNull(Type.String()),
    reviewDueAt: OrNull(TimestampShape),
    /** The revision before this one, and the one after it. */
    supersedes: OrNull(RecordIdShape),
    supersededBy: OrNull(RecordIdShape),
  },
  { title: 'AssessmentItem' },
);
export type AssessmentItem = Static<typeof AssessmentItemShape>;

export const CorrectiveActionItemShape = Closed(
  {
    ...COMMON,
    /** The same of all revisions. */
    correctiveActionId: ObjectIdShape,
    revision: OrdinalShape,
    actionStatus: Type.Enum([...ACTION_STATUSES]),
    incidentId: OrNull(ObjectIdShape),
    dueAt: OrNull(TimestampShape),
  },
  { title: 'CorrectiveActionItem' },
);
export type CorrectiveActionItem = Static<typeof CorrectiveActionItemShape>;

function listShape<Items extends TProperties>(items: Items) {
  return Closed({
    success: Type.Literal(true),
    ...items,
    /** Start of the proof window of the account's tier: older records are not listed. Null: all are. */
    listedFrom: OrNull(TimestampShape),
    /** Null on the last page. A page may hold few items, or none, and not be the last. */
    nextCursor: OrNull(Type.String()),
  });
}

export const SessionsAnswerShape = listShape({ items: Type.Array(SessionItemShape) });
export const ReviewsAnswerShape = listShape({ items: Type.Array(ReviewItemShape) });
export const AssessmentsAnswerShape = listShape({ items: Type.Array(AssessmentItemShape) });
export const CorrectiveActionsAnswerShape = listShape({ items: Type.Array(CorrectiveActionItemShape) });

const PLACE = { sourceId: EXAMPLE_IDS.source, sourceSeq: 12, submittedAt: EXAMPLE_SUBMITTED_AT };

export const RECORD_LIST_EXAMPLES = {
  sessions: page({
    attestationId: EXAMPLE_IDS.sessionStart,
    ...PLACE,
    sessionId: EXAMPLE_IDS.session,
    endedAt: null,
    endAttestationId: null,
    recordedDecisionCount: 3,
  }),
  reviews: page({
    attestationId: EXAMPLE_IDS.overrideRecord,
    ...PLACE,
    overrideId: EXAMPLE_IDS.override,
    originalAttestationId: EXAMPLE_IDS.decision,
    reviewer: `hmac-sha256:${'0'.repeat(64)}`,
    reviewOutcome: 'overridden',
  }),
  assessments: page({
    attestationId: EXAMPLE_IDS.riskAssessmentRecord,
    ...PLACE,
    assessmentId: EXAMPLE_IDS.riskAssessment,
    type: 'risk',
    rating: 'low',
    reviewDueAt: null,
    supersedes: null,
    supersededBy: null,
  }),
  correctiveActions: page({
    attestationId: EXAMPLE_IDS.correctiveActionRecord,
    ...PLACE,
    correctiveActionId: EXAMPLE_IDS.correctiveAction,
    revision: 1,
    actionStatus: 'planned',
    incidentId: EXAMPLE_IDS.incident,
    dueAt: null,
  }),
};

function page<Item>(item: Item) {
  return { success: true, items: [item], listedFrom: null, nextCursor: null };
}
