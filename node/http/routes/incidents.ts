import {
  DEFAULT_INCIDENTS_PAGE,
  INCIDENTS_EXAMPLE,
  type IncidentsAnswer,
  IncidentsAnswerShape,
  IncidentsQueryShape,
  MAX_INCIDENTS_PAGE,
} from '../../../protocol/api/incidents.ts';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import { clockStartOf, notificationDueAt } from '../../../protocol/compliance/notification-clock.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { covers, reaches } from '../../accounts/caller.ts';
import { INCIDENT_PLACE_PATTERN, type Incidents, type TrackedIncident } from '../../governance/incidents.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import { fieldError, Problem } from '../problem.ts';
import { queryReader } from '../query.ts';
import { requireReach } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';

export interface IncidentsServices {
  readonly incidents: Pick<Incidents, 'page'>;
  readonly now: () => number;
}

const PLACE = new RegExp(INCIDENT_PLACE_PATTERN);
const EXAMPLE_PLACE = '0001796484600000/0000000000000042';
const { state: STATE, sourceId: SOURCE, cursor: CURSOR, limit: LIMIT } = IncidentsQueryShape.properties;

/** `GET /v1/incidents` (DOMAIN §6 item 3): the account's incidents on this node, the soonest due first. */
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
