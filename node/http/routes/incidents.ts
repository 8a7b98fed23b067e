import type { Static } from 'typebox';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import { INCIDENT_EXAMPLE, IncidentAnswerShape, IncidentRequestShape } from '../../../protocol/api/incident.ts';
import {
  DEFAULT_INCIDENTS_PAGE,
  INCIDENTS_EXAMPLE,
  type IncidentsAnswer,
  IncidentsAnswerShape,
  IncidentsQueryShape,
  MAX_INCIDENTS_PAGE,
} from '../../../protocol/api/incidents.ts';
import {
  CLOCK_NOTE,
  clockStartOf,
  daysAfter,
  deadlineState,
  NOTIFICATION_DAYS,
  notificationDueAt,
  statutoryClocks,
} from '../../../protocol/compliance/notification-clock.ts';
import { INCIDENT_REFERENCES } from '../../../protocol/compliance/references.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { covers, reaches } from '../../accounts/caller.ts';
import type { AccountRecords } from '../../governance/account-records.ts';
import { governanceDraft } from '../../governance/governance-draft.ts';
import { INCIDENT_PLACE_PATTERN, type Incidents, type TrackedIncident } from '../../governance/incidents.ts';
import { fieldError, Problem } from '../problem.ts';
import { queryReader, readCursor, writeCursor } from '../query.ts';
import { readTimeOrDay, requireOrder, requirePast } from '../recording/asserted-times.ts';
import { type Recorder, recordingRoute, requireReach } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';

export interface IncidentsServices {
  readonly incidents: Pick<Incidents, 'page'>;
  readonly now: () => number;
}

const PLACE = new RegExp(INCIDENT_PLACE_PATTERN);
const EXAMPLE_PLACE = '0001796484600000/0000000000000042';
const { state: STATE, sourceId: SOURCE, cursor: CURSOR, limit: LIMIT } = IncidentsQueryShape.properties;

/** `GET /v1/incidents` (api-rules §10 item 1): the account's incidents on this node, the soonest due first. */
export function incidentsRoute({ incidents, now }: IncidentsServices): KeyRoute {
  const readQuery = queryReader(IncidentsQueryShape);
  return {
    method: 'GET',
    path: '/v1/incidents',
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: 'The incidents of the account and where their clocks stand',
      description:
        'The soonest due first. `due-soon` is the last day before the end of the clock. `notified` are those that a ' +
        'record of the event `AUTHORITY_NOTIFICATION` names; `late` is arithmetic alone. With a filter a page may hold ' +
        'few incidents, or none, and still have a `nextCursor`.',
      query: {
        state: { description: 'Those in one state.', shape: STATE, example: 'due-soon' },
        sourceId: { description: 'Those of one source.', shape: SOURCE, example: EXAMPLE_IDS.source },
        cursor: {
          description: '`nextCursor` of the page before.',
          shape: CURSOR,
          example: writeCursor([EXAMPLE_PLACE]),
        },
        limit: { description: `At most ${MAX_INCIDENTS_PAGE}.`, shape: LIMIT, example: '50' },
      },
      answer: { shape: IncidentsAnswerShape, example: INCIDENTS_EXAMPLE },
      problems: ['invalid-field'],
    },
    async answer({ query }, { account, key }) {
      const { state, sourceId, cursor, limit = DEFAULT_INCIDENTS_PAGE } = readQuery(query);
      requireReach({ account, key }, sourceId);
      const { incidents: found, next } = await incidents.page(account.id, {
        state,
        accepts: (record) =>
          reaches(key, record.sourceId) &&
          covers(key, record.submittedAt) &&
          (sourceId ?? record.sourceId) === record.sourceId,
        after: cursor === undefined ? undefined : placeOf(cursor),
        limit,
        now: now(),
      });
      const body: IncidentsAnswer = {
        success: true,
        items: found.map(itemOf),
        nextCursor: next === undefined ? null : writeCursor([next]),
      };
      return { body };
    },
  };
}

function itemOf({ record, state, notification, supersededBy }: TrackedIncident): IncidentsAnswer['items'][number] {
  const dueAt = notificationDueAt(record);
  return {
    incidentId: objectId('incident', record.id),
    attestationId: record.id,
    sourceId: record.sourceId,
    severity: record.claims.severity ?? 'critical',
    submittedAt: record.submittedAt,
    clockStart: { ...clockStartOf(record) },
    notificationDueAt: dueAt,
    notificationState: state,
    notifiedAt: notification?.submittedAt ?? null,
    notificationAttestationId: notification?.id ?? null,
    late: notification === undefined ? null : Date.parse(notification.submittedAt) > Date.parse(dueAt),
    supersededBy: supersededBy === undefined ? null : objectId('incident', supersededBy),
  };
}

function placeOf(cursor: string): string {
  const [place] = readCursor(cursor, 1);
  if (typeof place === 'string' && PLACE.test(place)) return place;
  throw invalid('cursor', 'cursor', 'is no cursor of this list');
}

function invalid(field: string, code: string, message: string): Problem {
  return new Problem('invalid-field', `${field} ${message}`, { errors: [fieldError([field], code, message)] });
}

interface IncidentServices {
  readonly recorder: Recorder;
  readonly records: Pick<AccountRecords, 'requireAll' | 'requireIncident'>;
  readonly now: () => number;
}

type IncidentRequest = Static<typeof IncidentRequestShape>;

/** `POST /v1/incident` (api-rules §4.2, §4.2): the clocks of EU AI Act Art. 73, side by side. */
export function incidentRoute({ recorder, records, now }: IncidentServices): KeyRoute {
  return recordingRoute(recorder, {
    path: '/v1/incident',
    scope: 'governance:write',
    shape: IncidentRequestShape,
    documentation: {
      summary: 'Records an incident and starts its notification clock',
      description:
        'The severity drives the clock: 15 days for `serious`, 2 for `critical` and `fatal`. The periods of Article 73 ' +
        'are listed beside it; which applies is not determined. A correction is a new incident that `supersedes` the ' +
        'earlier one. A tiered attestation of the event `AUTHORITY_NOTIFICATION` with its `incidentId` stops the clock.',
      request: { shape: IncidentRequestShape, example: INCIDENT_EXAMPLE.request },
      answer: { shape: IncidentAnswerShape, example: INCIDENT_EXAMPLE.answer },
      problems: ['time-order', 'time-in-future', 'attestation-not-found', 'incident-not-found'],
    },
    async record(work, submit) {
      const { request, caller } = work;
      const account = caller.account.id;
      const { sourceId, severity, criteria, supersedes, relatedAttestationIds = [] } = request;
      const clockStart = awarenessOf(request, now());
      const related = await records.requireAll(caller, relatedAttestationIds, 'relatedAttestationIds');
      const corrected =
        supersedes === undefined ? undefined : await records.requireIncident(caller, supersedes, 'supersedes');
      const due = clockStart === undefined ? undefined : daysAfter(clockStart, NOTIFICATION_DAYS[severity]);
      const ids = [...new Set(related.map(({ id }) => id))];
      return submit(
        governanceDraft(work, {
          kind: 'incident',
          account,
          sourceId,
          // Without awareness the clock starts with the record, whose time is not known yet: then both follow from it.
          claims: { severity, criteria, clockStart, notificationDueAt: due },
          links: { related: ids.length === 0 ? undefined : ids, supersedes: corrected?.id },
        }),
      );
    },
    answer({ request: { severity }, record, envelope }) {
      const clockStart = clockStartOf(record);
      const dueAt = notificationDueAt(record);
      return {
        ...envelope,
        incidentId: objectId('incident', record.id),
        severity,
        notificationDays: NOTIFICATION_DAYS[severity],
        clockStart: { ...clockStart },
        notificationDueAt: dueAt,
        notificationState: deadlineState(Date.parse(dueAt), Date.parse(record.submittedAt)),
        ...INCIDENT_REFERENCES,
        statutoryClocks: statutoryClocks(clockStart.at),
        note: CLOCK_NOTE,
      };
    },
  });
}

/** The asserted awareness. Throws `Problem` where a time is none, is still to come, or contradicts another. */
function awarenessOf(request: IncidentRequest, now: number): Timestamp | undefined {
  const { incidentPeriodStart, incidentPeriodEnd, awarenessAt } = request;
  const start = readTimeOrDay('incidentPeriodStart', incidentPeriodStart);
  requirePast('incidentPeriodStart', start, now);
  if (incidentPeriodEnd !== undefined) {
    const end = readTimeOrDay('incidentPeriodEnd', incidentPeriodEnd);
    requirePast('incidentPeriodEnd', end, now);
    requireOrder('incidentPeriodEnd', end, 'incidentPeriodStart', start);
  }
  if (awarenessAt === undefined) return undefined;
  const awareness = readTimeOrDay('awarenessAt', awarenessAt);
  requirePast('awarenessAt', awareness, now);
  requireOrder('awarenessAt', awareness, 'incidentPeriodStart', start);
  return timestampOf(awareness.first);
}
