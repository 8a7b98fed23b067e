import Type, { type Static } from 'typebox';
import { INCIDENT_STATES } from '../compliance/incident-state.ts';
import { Closed, CursorShape, OrNull, RecordIdShape, TimestampShape } from '../shapes.ts';
import { RECIPIENTS, REPORT_TYPES, REPORTABILITIES, ROLES, SEVERITIES } from '../statement/vocabulary.ts';
import { timestampOf } from '../time.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { SourceIdShape } from './fields.ts';
import { ObjectIdShape } from './governance-fields.ts';
import { CorrectiveActionItemShape } from './record-lists.ts';
import { ClockStartShape, EXAMPLE_REPORTED_CLOCKS, IncidentClockShape } from './incident.ts';

/** Incidents of one page, where no number is asked for and at most. */
export const DEFAULT_INCIDENTS_PAGE = 50;
export const MAX_INCIDENTS_PAGE = 100;

/** `GET /v1/incidents`. */
export const IncidentsQueryShape = Closed({
  state: Type.Optional(Type.Enum([...INCIDENT_STATES])),
  sourceId: Type.Optional(SourceIdShape),
  cursor: Type.Optional(CursorShape),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_INCIDENTS_PAGE })),
});

const NotificationShape = Closed(
  {
    attestationId: RecordIdShape,
    /** Null for an event `AUTHORITY_NOTIFICATION`, which says neither whom nor what. */
    to: OrNull(Type.Enum([...RECIPIENTS])),
    reportType: OrNull(Type.Enum([...REPORT_TYPES])),
    regime: OrNull(Type.String()),
    authority: OrNull(Type.String()),
    memberState: OrNull(Type.String()),
    /** The caller's word, beside the time of the record. */
    sentAt: OrNull(TimestampShape),
    receivedAt: OrNull(TimestampShape),
    submittedAt: TimestampShape,
  },
  { title: 'IncidentNotification' },
);

/** An incident and where it stands. */
const IncidentItemShape = Closed(
  {
    incidentId: ObjectIdShape,
    attestationId: RecordIdShape,
    sourceId: Type.String(),
    severity: Type.Enum([...SEVERITIES]),
    submittedAt: TimestampShape,
    clockStart: ClockStartShape,
    notificationDueAt: TimestampShape,
    notificationState: Type.Enum([...INCIDENT_STATES]),
    /** When the first record was made that says that the authority was told, and that record. */
    notifiedAt: OrNull(TimestampShape),
    notificationAttestationId: OrNull(RecordIdShape),
    /** The earliest end of a clock that is asserted, which drives state and order, and which that is. */
    earliestDueAt: TimestampShape,
    earliestRef: Type.String(),
    clocks: Type.Array(IncidentClockShape),
    /** In which capacity it was reported, as its caller asserts. */
    role: OrNull(Type.Enum([...ROLES])),
    reportability: OrNull(Type.Enum([...REPORTABILITIES])),
    memberStates: Type.Array(Type.String()),
    systemRef: OrNull(Type.String()),
    /** `awareness-not-given`: the clock runs from the record, which may be later than the law's. */
    warnings: Type.Array(Type.String()),
    /** Who was told of it, or of what it corrects, oldest first. */
    notifications: Type.Array(NotificationShape),
    /** The incident that corrects this one. */
    supersededBy: OrNull(ObjectIdShape),
  },
  { title: 'TrackedIncident' },
);

/** One page of an account's incidents on a node, the soonest due first. */
export const IncidentsAnswerShape = Closed({
  success: Type.Literal(true),
  items: Type.Array(IncidentItemShape, { maxItems: MAX_INCIDENTS_PAGE }),
  /** Null on the last page. A page may hold few incidents, or none, and not be the last. */
  nextCursor: OrNull(Type.String()),
});
export type IncidentsAnswer = Static<typeof IncidentsAnswerShape>;

/** `GET /v1/incidents/:id`: an incident with all that is on record about it here. */
export const TrackedIncidentAnswerShape = Closed({
  success: Type.Literal(true),
  incident: IncidentItemShape,
  /** What it corrects, and the records that its caller names beside it. */
  supersedes: OrNull(ObjectIdShape),
  relatedAttestationIds: Type.Array(RecordIdShape),
  /** Revisions of corrective actions that were recorded because of it, oldest first. */
  correctiveActions: Type.Array(CorrectiveActionItemShape),
});
export type TrackedIncidentAnswer = Static<typeof TrackedIncidentAnswerShape>;

export const INCIDENTS_EXAMPLE: IncidentsAnswer = {
  success: true,
  items: [
    {
      incidentId: EXAMPLE_IDS.incident,
      attestationId: EXAMPLE_IDS.incidentRecord,
      sourceId: EXAMPLE_IDS.source,
      severity: 'serious',
      submittedAt: timestampOf(Date.UTC(2026, 10, 21, 9, 30)),
      clockStart: { at: timestampOf(Date.UTC(2026, 10, 20, 15, 30)), basis: 'awarenessAt' },
      notificationDueAt: timestampOf(Date.UTC(2026, 11, 5, 15, 30)),
      notificationState: 'notified',
      notifiedAt: timestampOf(Date.UTC(2026, 10, 23, 8, 12)),
      notificationAttestationId: EXAMPLE_IDS.decision,
      earliestDueAt: timestampOf(Date.UTC(2026, 11, 5, 15, 30)),
      earliestRef: 'service',
      clocks: EXAMPLE_REPORTED_CLOCKS,
      role: 'provider',
      reportability: 'reportable',
      memberStates: ['DE'],
      systemRef: null,
      warnings: [],
      notifications: [
        {
          attestationId: EXAMPLE_IDS.decision,
          to: null,
          reportType: null,
          regime: null,
          authority: null,
          memberState: null,
          sentAt: null,
          receivedAt: null,
          submittedAt: timestampOf(Date.UTC(2026, 10, 23, 8, 12)),
        },
      ],
      supersededBy: null,
    },
  ],
  nextCursor: null,
};
