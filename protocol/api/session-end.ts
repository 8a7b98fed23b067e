import Type from 'typebox';
import { SESSION_REFERENCES } from '../compliance/references.ts';
import { Closed, CountShape, OrNull, TimestampShape } from '../shapes.ts';
import { ENVELOPE_EXAMPLE, ENVELOPE_MEMBERS } from './envelope.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { SourceIdShape } from './fields.ts';
import { IdTextShape, ListOf, ObjectIdShape, ParagraphShape } from './governance-fields.ts';

/** `POST /v1/session/end`: a period of use is over. */
export const SessionEndRequestShape = Type.Object({
  sessionId: IdTextShape,
  sourceId: SourceIdShape,
  outcome: Type.Optional(ParagraphShape),
  decisionCount: Type.Optional(CountShape),
});

export const SessionEndAnswerShape = Closed({
  ...ENVELOPE_MEMBERS,
  sessionId: ObjectIdShape,
  startTime: TimestampShape,
  endTime: TimestampShape,
  durationSeconds: Type.Number({ minimum: 0 }),
  outcome: OrNull(Type.String()),
  /** As the caller counted them. */
  decisionCount: OrNull(CountShape),
  /** Decisions that were recorded within the session. */
  recordedDecisionCount: CountShape,
  /** Null where the caller did not say how many there were. */
  countMatches: OrNull(Type.Boolean()),
  articles: ListOf(...SESSION_REFERENCES.articles),
});

const END_TIME = '2026-11-21T13:30:00.000Z';

export const SESSION_END_EXAMPLE = {
  request: {
    sessionId: EXAMPLE_IDS.session,
    sourceId: EXAMPLE_IDS.source,
    outcome: 'Regular end of shift',
    decisionCount: 118,
  },
  answer: {
    ...ENVELOPE_EXAMPLE,
    submittedAt: END_TIME,
    sessionId: EXAMPLE_IDS.session,
    startTime: '2026-11-21T09:30:00.000Z',
    endTime: END_TIME,
    durationSeconds: 14_400,
    outcome: 'Regular end of shift',
    decisionCount: 118,
    recordedDecisionCount: 118,
    countMatches: true,
    ...SESSION_REFERENCES,
  },
} as const;
