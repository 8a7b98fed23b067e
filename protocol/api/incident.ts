import Type from 'typebox';
import { incidentClocks } from '../compliance/incident-clocks.ts';
import { TRIGGERED_REGIMES } from '../compliance/regime-clocks.ts';
import { INCIDENT_STATES } from '../compliance/incident-state.ts';
import { CLOCK_BASES, CLOCK_NOTE, type ClockedRecord, STATUTORY_PERIODS } from '../compliance/notification-clock.ts';
import { INCIDENT_REFERENCES } from '../compliance/references.ts';
import { Closed, documented, OrNull, TimestampShape } from '../shapes.ts';
import { MAX_LINKED } from '../chain/claims.ts';
import { INCIDENT_CRITERIA, REPORTABILITIES, ROLES, SEVERITIES } from '../statement/vocabulary.ts';
import { ENVELOPE_EXAMPLE, ENVELOPE_MEMBERS } from './envelope.ts';
import { timestampOf } from '../time.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { SourceIdShape, TextShape } from './fields.ts';
import { IdTextShape, ListOf, ObjectIdShape, PersonShape } from './governance-fields.ts';
import { TimeOrDayShape } from './times.ts';

const MAX_MEMBER_STATES = 50;

const TriggerShape = Type.Object(
  { regime: Type.Enum([...TRIGGERED_REGIMES]), at: TimeOrDayShape },
  { title: 'RegimeTrigger', additionalProperties: false },
);

/** One clock beside what was reported: facts, and no judgement. */
export const IncidentClockShape = Closed(
  {
    regime: Type.String(),
    ref: Type.String(),
    /** Null where the regime's own trigger is not asserted, or the law names no period. */
    dueAt: OrNull(TimestampShape),
    /** Whether the report that ends it was sent after `dueAt`; null while there is none, or no end. */
    reportedAfterDueAt: OrNull(Type.Boolean()),
    source: Type.String(),
  },
  { title: 'IncidentClock' },
);

/** What closes an incident is said with its reason. */
const CLOSING_CONDITIONS = documented({
  not: {
    type: 'object',
    required: ['reportability'],
    properties: { reportability: { type: 'string', const: 'not-reportable' } },
    not: { type: 'object', required: ['rationale'], properties: { rationale: { type: 'string', pattern: '\\S' } } },
  },
});

/** `POST /v1/incident`: something went wrong. The severity drives the notification clock. */
export const IncidentRequestShape = Type.Object(
  {
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
    /** In which capacity the caller reports: a deployer is bound by Article 73 where the provider cannot be reached. */
    role: Type.Optional(Type.Enum([...ROLES])),
    providerUnreachable: Type.Optional(Type.Boolean()),
    /** With a `rationale`, `not-reportable` closes the incident. */
    reportability: Type.Optional(Type.Enum([...REPORTABILITIES])),
    rationale: Type.Optional(TextShape(1, 4000)),
    /** When the clocks of other regimes started, each by its own trigger. */
    triggers: Type.Optional(Type.Array(TriggerShape, { minItems: 1, maxItems: TRIGGERED_REGIMES.length })),
    detectedAt: Type.Optional(TimeOrDayShape),
    /** When the caller became aware that it has to be reported. */
    reportabilityKnownAt: Type.Optional(TimeOrDayShape),
    nextReportAt: Type.Optional(TimeOrDayShape),
    /** Other laws under which it is reported. */
    reportedUnder: Type.Optional(TextShape(1, 1000)),
    systemRef: Type.Optional(TextShape(1, 256)),
    euDatabaseId: Type.Optional(TextShape(1, 256)),
    modelId: Type.Optional(TextShape(1, 256)),
    modelVersion: Type.Optional(TextShape(1, 128)),
    riskAssessmentReviewed: Type.Optional(Type.Boolean()),
  },
  CLOSING_CONDITIONS,
);

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
  notificationState: Type.Enum([...INCIDENT_STATES]),
  /** The earliest end of the service's clock and of every period whose criterion is asserted, and which that is. */
  earliestDueAt: TimestampShape,
  earliestRef: Type.String(),
  clocks: Type.Array(IncidentClockShape),
  articles: ListOf(...INCIDENT_REFERENCES.articles),
  statutoryClocks: Type.Array(
    Closed({ ref: Type.String(), days: Type.Integer(), dueAt: TimestampShape, condition: Type.String() }),
  ),
  note: Type.String(),
});

const [GENERAL, WIDESPREAD, DEATH] = STATUTORY_PERIODS;

/** Of an incident that its caller became aware of at 15:30 on 20 November 2026. */
const EXAMPLE_INCIDENT: ClockedRecord = {
  submittedAt: timestampOf(Date.parse(EXAMPLE_SUBMITTED_AT)),
  claims: {
    clockStart: timestampOf(Date.UTC(2026, 10, 20, 15, 30)),
    severity: 'serious',
    criteria: ['fundamental-rights'],
  },
};
/** Before anybody was told of it, and after the authority was. */
const EXAMPLE_CLOCKS = incidentClocks(EXAMPLE_INCIDENT, { others: [] });
export const EXAMPLE_REPORTED_CLOCKS = incidentClocks(EXAMPLE_INCIDENT, {
  own: timestampOf(Date.UTC(2026, 10, 23, 8, 12)),
  others: [],
});

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
    earliestDueAt: '2026-12-05T15:30:00.000Z',
    earliestRef: 'service',
    clocks: EXAMPLE_CLOCKS,
    ...INCIDENT_REFERENCES,
    statutoryClocks: [
      { ...GENERAL, dueAt: '2026-12-05T15:30:00.000Z' },
      { ...WIDESPREAD, dueAt: '2026-11-22T15:30:00.000Z' },
      { ...DEATH, dueAt: '2026-11-30T15:30:00.000Z' },
    ],
    note: CLOCK_NOTE,
  },
} as const;
