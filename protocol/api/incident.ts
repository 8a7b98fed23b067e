import Type from 'typebox';
import { CLOCK_BASES, CLOCK_NOTE, DEADLINE_STATES, STATUTORY_PERIODS } from '../compliance/notification-clock.ts';
import { INCIDENT_REFERENCES } from '../compliance/references.ts';
import { Closed, TimestampShape } from '../shapes.ts';
import { MAX_LINKED } from '../chain/claims.ts';
import { INCIDENT_CRITERIA, SEVERITIES } from '../statement/vocabulary.ts';
import { ENVELOPE_EXAMPLE, ENVELOPE_MEMBERS } from './envelope.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { SourceIdShape, TextShape } from './fields.ts';
import { IdTextShape, ListOf, ObjectIdShape, PersonShape } from './governance-fields.ts';
import { TimeOrDayShape } from './times.ts';

const MAX_MEMBER_STATES = 50;

/** `POST /v1/incident`: something went wrong. The severity drives the notification clock. */
export const IncidentRequestShape = Type.Object({
  sourceId: SourceIdShape,
  severity: Type.Enum([...SEVERITIES]),
  description: TextShape(1, 8000),
  incidentPeriodStart: TimeOrDayShape,
  /** Absent while it lasts. */
  incidentPeriodEnd: Type.Optional(TimeOrDayShape),
  reportedBy: Type.Optional(PersonShape),
  /** When the caller became aware of it: the clock starts here, else with the record. */
  awarenessAt: Type.Optional(TimeOrDayShape),
  criteria: Type.Optional(
    Type.Array(Type.Enum([...INCIDENT_CRITERIA]), { uniqueItems: true, maxItems: INCIDENT_CRITERIA.length }),
  ),
  memberStates: Type.Optional(Type.Array(TextShape(1, 64), { maxItems: MAX_MEMBER_STATES })),
  relatedAttestationIds: Type.Optional(Type.Array(IdTextShape, { maxItems: MAX_LINKED })),
  /** The incident that this one corrects. */
  supersedes: Type.Optional(IdTextShape),
});

export const ClockStartShape = Closed(
  { at: TimestampShape, basis: Type.Enum([...CLOCK_BASES]) },
  { title: 'ClockStart' },
);

export const IncidentAnswerShape = Closed({
  ...ENVELOPE_MEMBERS,
  incidentId: ObjectIdShape,
  severity: Type.Enum([...SEVERITIES]),
  notificationDays: Type.Integer({ minimum: 1 }),
  clockStart: ClockStartShape,
  notificationDueAt: TimestampShape,
  notificationState: Type.Enum([...DEADLINE_STATES]),
  articles: ListOf(...INCIDENT_REFERENCES.articles),
  statutoryClocks: Type.Array(
    Closed({ ref: Type.String(), days: Type.Integer(), dueAt: TimestampShape, condition: Type.String() }),
  ),
  note: Type.String(),
});

const [GENERAL, WIDESPREAD, DEATH] = STATUTORY_PERIODS;

export const INCIDENT_EXAMPLE = {
  request: {
    sourceId: EXAMPLE_IDS.source,
    severity: 'serious',
    description: 'Applications from one postal district were refused without review for two days.',
    incidentPeriodStart: '2026-11-18T06:00:00Z',
    incidentPeriodEnd: '2026-11-20T15:45:00Z',
    reportedBy: 'staff-0733',
    awarenessAt: '2026-11-20T15:30:00Z',
    criteria: ['fundamental-rights'],
    memberStates: ['DE'],
    relatedAttestationIds: [EXAMPLE_IDS.decision],
  },
  answer: {
    ...ENVELOPE_EXAMPLE,
    attestationId: EXAMPLE_IDS.incidentRecord,
    verifyUrl: `https://eu.example/v1/verify/${EXAMPLE_IDS.incidentRecord}`,
    incidentId: EXAMPLE_IDS.incident,
    severity: 'serious',
    notificationDays: 15,
    clockStart: { at: '2026-11-20T15:30:00.000Z', basis: 'awarenessAt' },
    notificationDueAt: '2026-12-05T15:30:00.000Z',
    notificationState: 'open',
    ...INCIDENT_REFERENCES,
    statutoryClocks: [
      { ...GENERAL, dueAt: '2026-12-05T15:30:00.000Z' },
      { ...WIDESPREAD, dueAt: '2026-11-22T15:30:00.000Z' },
      { ...DEATH, dueAt: '2026-11-30T15:30:00.000Z' },
    ],
    note: CLOCK_NOTE,
  },
} as const;
