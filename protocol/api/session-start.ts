import Type from 'typebox';
import { Closed, TimestampShape } from '../shapes.ts';
import { ENVIRONMENTS } from '../statement/vocabulary.ts';
import { ENVELOPE_EXAMPLE, ENVELOPE_MEMBERS } from './envelope.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { SourceIdShape } from './fields.ts';
import { ObjectIdShape, ParagraphShape, PersonShape } from './governance-fields.ts';

/** `POST /v1/session/start`: a period of use begins. */
export const SessionStartRequestShape = Type.Object({
  sourceId: SourceIdShape,
  purpose: Type.Optional(ParagraphShape),
  environment: Type.Optional(Type.Enum([...ENVIRONMENTS])),
  operatorId: Type.Optional(PersonShape),
});

export const SessionStartAnswerShape = Closed({
  ...ENVELOPE_MEMBERS,
  sessionId: ObjectIdShape,
  startTime: TimestampShape,
});

export const SESSION_START_EXAMPLE = {
  request: {
    sourceId: EXAMPLE_IDS.source,
    purpose: 'Consumer credit decisions, morning shift',
    environment: 'production',
    operatorId: 'staff-0412',
  },
  answer: {
    ...ENVELOPE_EXAMPLE,
    attestationId: EXAMPLE_IDS.sessionStart,
    verifyUrl: `https://eu.example/v1/verify/${EXAMPLE_IDS.sessionStart}`,
    sessionId: EXAMPLE_IDS.session,
    startTime: EXAMPLE_SUBMITTED_AT,
  },
} as const;
