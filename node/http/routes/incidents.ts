import Type, { type Static } from 'typebox';
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
  NOTIFICATION_DAYS,
  notificationDueAt,
  statutoryClocks,
} from '../../../protocol/compliance/notification-clock.ts';
import { earliestDue, incidentClocks, inheritedClock } from '../../../protocol/compliance/incident-clocks.ts';
import { incidentState, reportsOf, tellsAuthority } from '../../../protocol/compliance/incident-state.ts';
import { INCIDENT_REFERENCES } from '../../../protocol/compliance/references.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { covers, reaches } from '../../accounts/caller.ts';
import type { Asserted } from '../../../protocol/chain/asserted.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { AccountRecords } from '../../governance/account-records.ts';
import { governanceDraft } from '../../governance/governance-draft.ts';
import { INCIDENT_PLACE_PATTERN, type Incidents, type TrackedIncident } from '../../governance/incidents.ts';
import { fieldProblem } from '../problem.ts';
import { queryReader } from '../query.ts';
import { FilteredCursor } from '../page-cursor.ts';
import { readTimeOrDay, requireOrder, requirePast } from '../recording/asserted-times.ts';
import { type Recorder, recordingRoute, requireReach } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';

export interface IncidentsServices {
  readonly incidents: Pick<Incidents, 'page'>;
  readonly now: () => number;
}

/** The clock of an incident without awareness runs from its record, which may be later than the law's. */
const AWARENESS_NOT_GIVEN =
  'awareness-not-given: the clocks run from the time of the record, which may be later than the law has it';
const CURSOR = new FilteredCursor(Type.Tuple([Type.String({ pattern: INCIDENT_PLACE_PATTERN })]), [
  '0001796484600000/0000000000000042',
]);
const { state: STATE, sourceId: SOURCE, limit: LIMIT } = IncidentsQueryShape.properties;

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
        'The soonest due first, by `earliestDueAt`: the earliest of the service’s clock and of every period whose ' +
        'criterion is asserted. `due-soon` is the last day before it. `notified-initial`: every authority concerned has ' +
        'a report; `notified`: each has a final one, or a record of the event `AUTHORITY_NOTIFICATION` names the ' +
        'incident. `clocks` are arithmetic: which applies is not determined. With a filter a page may hold few ' +
        'incidents, or none, and still have a `nextCursor`.',
      query: {
        state: { description: 'Those in one state.', shape: STATE, example: 'due-soon' },
        sourceId: { description: 'Those of one source.', shape: SOURCE, example: EXAMPLE_IDS.source },
        cursor: CURSOR.parameter,
        limit: { description: `At most ${MAX_INCIDENTS_PAGE}.`, shape: LIMIT, example: '50' },
      },
      answer: { shape: IncidentsAnswerShape, example: INCIDENTS_EXAMPLE },
      problems: ['invalid-field'],
    },
    async answer({ query }, { account, key }) {
      const { state, sourceId, cursor, limit = DEFAULT_INCIDENTS_PAGE } = readQuery(query);
      requireReach({ account, key }, sourceId);
      const filters = { state, sourceId };
      const { incidents: found, next } = await incidents.page(account.id, {
        state,
        accepts: (record) =>
          reaches(key, record.sourceId) &&
          covers(key, record.submittedAt) &&
          (sourceId ?? record.sourceId) === record.sourceId,
        after: CURSOR.read(cursor, filters)?.[0],
        limit,
        now: now(),
      });
      const body: IncidentsAnswer = {
        success: true,
        items: found.map((tracked) =>
          incidentItem(tracked, (record) => reaches(key, record.sourceId) && covers(key, record.submittedAt)),
        ),
        nextCursor: next === undefined ? null : CURSOR.write([next], filters),
      };
      return { body };
    },
  };
}

/** Its state and clocks rest on every notification; those that the key may not read are not shown. */
export function incidentItem(
  tracked: TrackedIncident,
  maySee: (record: AttestationRecord) => boolean,
): IncidentsAnswer['items'][number] {
  const { record, state, notifications, supersededBy } = tracked;
  const seen = notifications.filter(maySee);
  const { severity = 'critical', asserted = {} } = record.claims;
  const { dueAt, ref } = earliestDue(record);
  const { role = null, reportability = null, memberStates = [], systemRef = null } = asserted;
  const start = clockStartOf(record);
  const first = seen.find(tellsAuthority);
  return {
    incidentId: objectId('incident', record.id),
    attestationId: record.id,
    sourceId: record.sourceId,
    severity,
    submittedAt: record.submittedAt,
    clockStart: { ...start },
    notificationDueAt: notificationDueAt(record),
    notificationState: state,
    notifiedAt: first?.submittedAt ?? null,
    notificationAttestationId: first?.id ?? null,
    earliestDueAt: dueAt,
    earliestRef: ref,
    clocks: clocksOf(record, notifications),
    role,
    reportability,
    memberStates: [...memberStates],
    systemRef,
    warnings: start.basis === 'submittedAt' ? [AWARENESS_NOT_GIVEN] : [],
    notifications: seen.map(notificationOf),
    supersededBy: supersededBy === undefined ? null : objectId('incident', supersededBy),
  };
}

function notificationOf({
  id,
  submittedAt,
  claims: { asserted = {} },
}: AttestationRecord): IncidentsAnswer['items'][number]['notifications'][number] {
  const { to = null, reportType = null, regime = null, authority = null, memberState = null } = asserted;
  const { sentAt = null, receivedAt = null } = asserted;
  return { attestationId: id, to, reportType, regime, authority, memberState, sentAt, receivedAt, submittedAt };
}

function clocksOf(incident: AttestationRecord, notifications: readonly AttestationRecord[]) {
  return incidentClocks(incident, reportsOf({ incident, notifications }));
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
        'are listed beside it; which applies is not determined. `earliestDueAt` is the earliest of them whose criterion ' +
        'is asserted. A correction is a new incident that `supersedes` the earlier one: its clock starts no later, and ' +
        'closes it. `POST /v1/notification` with its `incidentId` moves the clock, and a tiered attestation of the event ' +
        '`AUTHORITY_NOTIFICATION` stops it.',
      request: { shape: IncidentRequestShape, example: INCIDENT_EXAMPLE.request },
      answer: { shape: IncidentAnswerShape, example: INCIDENT_EXAMPLE.answer },
      problems: ['time-order', 'time-in-future', 'attestation-not-found', 'incident-not-found'],
    },
    async record(work, submit) {
      const { request, caller } = work;
      const account = caller.account.id;
      const { sourceId, severity, criteria, supersedes, modelId, modelVersion, relatedAttestationIds = [] } = request;
      const awareness = awarenessOf(request, now());
      const asserted = assertedOf(request, now());
      const related = await records.requireAll(caller, relatedAttestationIds, 'relatedAttestationIds');
      const corrected =
        supersedes === undefined ? undefined : await records.requireIncident(caller, supersedes, 'supersedes');
      if (corrected !== undefined && corrected.sourceId !== sourceId) {
        throw fieldProblem('sourceId', 'other', 'is another source than that of the incident that this one corrects');
      }
      const inherited = corrected && inheritedClock(corrected, { awareness, criteria, asserted });
      const clockStart = inherited === undefined ? awareness : inherited.clockStart;
      const due = clockStart === undefined ? undefined : daysAfter(clockStart, NOTIFICATION_DAYS[severity]);
      const ids = [...new Set(related.map(({ id }) => id))];
      const facts = { ...asserted, ...inherited?.asserted };
      return submit(
        governanceDraft(work, {
          kind: 'incident',
          account,
          sourceId,
          // Without awareness the clock starts with the record, whose time is not known yet: then both follow from it.
          claims: {
            severity,
            criteria: inherited === undefined ? criteria : inherited.criteria,
            clockStart,
            notificationDueAt: due,
            modelId,
            modelVersion,
            asserted: Object.keys(facts).length === 0 ? undefined : facts,
          },
          links: { related: ids.length === 0 ? undefined : ids, supersedes: corrected?.id },
        }),
      );
    },
    answer({ request: { severity }, record, envelope }) {
      const clockStart = clockStartOf(record);
      const dueAt = notificationDueAt(record);
      const earliest = earliestDue(record);
      const history = { incident: record, notifications: [], isSuperseded: false };
      return {
        ...envelope,
        warnings: [...envelope.warnings, ...(clockStart.basis === 'submittedAt' ? [AWARENESS_NOT_GIVEN] : [])],
        incidentId: objectId('incident', record.id),
        severity,
        notificationDays: NOTIFICATION_DAYS[severity],
        clockStart: { ...clockStart },
        notificationDueAt: dueAt,
        notificationState: incidentState(history, Date.parse(record.submittedAt)),
        earliestDueAt: earliest.dueAt,
        earliestRef: earliest.ref,
        clocks: clocksOf(record, []),
        ...INCIDENT_REFERENCES,
        statutoryClocks: statutoryClocks(clockStart.at),
        note: CLOCK_NOTE,
      };
    },
  });
}

/** What else the caller asserts. Throws `Problem` where a rationale is missing, or a time is none or still to come. */
function assertedOf(request: IncidentRequest, now: number): Asserted {
  const { role, providerUnreachable, reportability, rationale, memberStates, systemRef, euDatabaseId } = request;
  if (reportability === 'not-reportable' && (rationale ?? '').trim() === '') {
    throw fieldProblem('rationale', 'required', 'is required where reportability is not-reportable', 'missing-field');
  }
  const { nextReportAt, riskAssessmentReviewed, triggers } = request;
  const isNamed = memberStates !== undefined && memberStates.length > 0;
  return {
    ...(role !== undefined && { role }),
    ...(providerUnreachable !== undefined && { providerUnreachable }),
    ...(reportability !== undefined && { reportability }),
    ...(isNamed && { memberStates: [...new Set(memberStates)] }),
    ...(systemRef !== undefined && { systemRef }),
    ...(euDatabaseId !== undefined && { euDatabaseId }),
    ...(riskAssessmentReviewed !== undefined && { riskAssessmentReviewed }),
    ...pastTime('detectedAt', request.detectedAt, now),
    ...pastTime('reportabilityKnownAt', request.reportabilityKnownAt, now),
    ...(nextReportAt !== undefined && { nextReportAt: timestampOf(readTimeOrDay('nextReportAt', nextReportAt).first) }),
    ...(triggers !== undefined && { triggers: triggers.map((trigger, i) => triggerOf(trigger, i, now)) }),
  };
}

function pastTime<Name extends 'detectedAt' | 'reportabilityKnownAt'>(
  name: Name,
  text: string | undefined,
  now: number,
): { readonly [Key in Name]?: Timestamp } {
  if (text === undefined) return {};
  const at = readTimeOrDay(name, text);
  requirePast(name, at, now);
  const fact: { [Key in Name]?: Timestamp } = {};
  fact[name] = timestampOf(at.first);
  return fact;
}

function triggerOf({ regime, at }: { readonly regime: string; readonly at: string }, index: number, now: number) {
  const field = `triggers.${index}.at`;
  const time = readTimeOrDay(field, at);
  requirePast(field, time, now);
  return { regime, at: timestampOf(time.first) };
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
