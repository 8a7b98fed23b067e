import { INCIDENT_EXAMPLE, IncidentAnswerShape, IncidentRequestShape } from '../../../protocol/api/incident.ts';
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
import type { Static } from 'typebox';
import type { AccountRecords } from '../../governance/account-records.ts';
import { governanceDraft } from '../../governance/governance-draft.ts';
import { readTimeOrDay, requireOrder, requirePast } from '../recording/asserted-times.ts';
import type { Recorder } from '../recording/recorder.ts';
import { recordingRoute } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';

export interface IncidentServices {
  readonly recorder: Recorder;
  readonly records: Pick<AccountRecords, 'requireAll' | 'requireIncident'>;
  readonly now: () => number;
}

type IncidentRequest = Static<typeof IncidentRequestShape>;

/** `POST /v1/incident` (SPEC §4.2 rule 2, DOMAIN §3.2): the clocks of EU AI Act Art. 73, side by side. */
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
