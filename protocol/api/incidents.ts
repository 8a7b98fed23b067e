import Type, { type Static } from 'typebox';
import { Closed, OrNull, RecordIdShape, TimestampShape } from '../shapes.ts';
import { SEVERITIES } from '../statement/vocabulary.ts';
import { timestampOf } from '../time.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { SourceIdShape } from './fields.ts';
import { ObjectIdShape } from './governance-fields.ts';
import { ClockStartShape } from './incident.ts';

/** Incidents of one page, where no number is asked for and at most. */
export const DEFAULT_INCIDENTS_PAGE = 50;
export const MAX_INCIDENTS_PAGE = 100;

const STATES = ['open', 'due-soon', 'overdue', 'notified'] as const;

/** `GET /v1/incidents`. */
export const IncidentsQueryShape = Closed({
  state: Type.Optional(Type.Enum([...STATES])),
  sourceId: Type.Optional(SourceIdShape),
  cursor: Type.Optional(Type.String({ minLength: 1 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_INCIDENTS_PAGE })),
});

/** One page of an account's incidents on a node, the soonest due first. */
export const IncidentsAnswerShape = Closed({
  success: Type.Literal(true),
  items: Type.Array(
    Closed({
      incidentId: ObjectIdShape,
      attestationId: RecordIdShape,
      sourceId: Type.String(),
      severity: Type.Enum([...SEVERITIES]),
      submittedAt: TimestampShape,
      clockStart: ClockStartShape,
      notificationDueAt: TimestampShape,
      notificationState: Type.Enum([...STATES]),
      /** When the first record was made that says that the authority was told, and that record. */
      notifiedAt: OrNull(TimestampShape),
      notificationAttestationId: OrNull(RecordIdShape),
      /** Whether that was after `notificationDueAt`. Null while nobody was told. */
      late: OrNull(Type.Boolean()),
      /** The incident that corrects this one. */
      supersededBy: OrNull(ObjectIdShape),
    }),
    { maxItems: MAX_INCIDENTS_PAGE },
  ),
  /** Null on the last page. A page may hold few incidents, or none, and not be the last. */
  nextCursor: OrNull(Type.String()),
});
export type IncidentsAnswer = Static<typeof IncidentsAnswerShape>;

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
      late: false,
      supersededBy: null,
    },
  ],
  nextCursor: null,
};
