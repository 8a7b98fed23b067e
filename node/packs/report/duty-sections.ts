import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { incidentClocks } from '../../../protocol/compliance/incident-clocks.ts';
import { incidentState, reportsOf, tellsOfNotification } from '../../../protocol/compliance/incident-state.ts';
import { CLOCK_NOTE, clockStartOf } from '../../../protocol/compliance/notification-clock.ts';
import { lockEnd, periodOf } from '../../../protocol/compliance/retention.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import type { PackQuestion } from '../../../protocol/pack/manifest.ts';
import type { RecordKind } from '../../../protocol/statement/vocabulary.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { Erasure } from '../making/asked-records.ts';
import type { PackTally } from './pack-tally.ts';
import { cutWords, type ReportSection, tableOf, timeWords } from './report-document.ts';

/**
 * Incidents with their clocks, as of the end of the period: what was recorded after it is not in the pack. A period
 * that ends later than the moment that the pack is of ends there.
 */
export function incidentSection({ asOf, kinds, to }: PackQuestion, { cutKinds, lookedAt }: PackTally): ReportSection {
  const incidents = kinds?.includes('incident') === false ? [] : lookedAt.filter(({ kind }) => kind === 'incident');
  const replaced = new Set(
    lookedAt.flatMap(({ kind, links }) => (kind === 'notification' ? (links.supersedes ?? []) : [])),
  );
  const told = lookedAt.filter((record) => tellsOfNotification(record) && !replaced.has(record.id));
  const superseded = new Set(
    lookedAt.flatMap(({ kind, links }) => (kind === 'incident' ? (links.supersedes ?? []) : [])),
  );
  const end = to < asOf ? to : asOf;
  const histories = incidents.map((incident) => {
    const ids = correctedBy(incident, incidents);
    const notifications = told.filter(({ links }) => links.incident !== undefined && ids.has(links.incident));
    return { incident, notifications, isSuperseded: superseded.has(incident.id) };
  });
  return {
    id: 'incidents',
    title: 'Incidents and their clocks',
    paragraphs: [
      `As of ${timeWords(end)}, by the records of this pack alone.`,
      ...cutOf(cutKinds, ['incident', 'notification', 'decision']),
      CLOCK_NOTE,
    ],
    tables: [
      tableOf(
        'Incidents',
        ['Incident', 'Source', 'Severity', 'Recorded', 'Clock began', 'State', 'Notifications'],
        histories,
        (history) => [
          objectId('incident', history.incident.id),
          history.incident.sourceId,
          history.incident.claims.severity ?? '',
          timeWords(history.incident.submittedAt),
          timeWords(clockStartOf(history.incident).at),
          incidentState(history, Date.parse(end)),
          history.notifications.map(({ id }) => id).join(' '),
        ],
      ),
      tableOf(
        'Clocks',
        ['Incident', 'Regime', 'Reference', 'Due', 'Reported after that'],
        histories.flatMap((history) =>
          incidentClocks(history.incident, reportsOf(history)).map((clock) => ({ clock, of: history.incident })),
        ),
        ({ clock: { regime, ref, dueAt, reportedAfterDueAt }, of }) => [
          objectId('incident', of.id),
          regime,
          ref,
          dueAt === null ? 'not started' : timeWords(dueAt),
          reportedAfterDueAt === null ? 'no report' : reportedAfterDueAt ? 'yes' : 'no',
        ],
      ),
    ],
  };
}

/** What a section that shows records of these kinds says of those that it does not look at. */
function cutOf(cutKinds: PackTally['cutKinds'], shown: readonly RecordKind[]): readonly string[] {
  return cutWords(shown.filter((kind) => cutKinds.has(kind)));
}

/** An incident and those that it corrects, one after the other. */
function correctedBy(incident: AttestationRecord, incidents: readonly AttestationRecord[]): ReadonlySet<RecordId> {
  const known = new Map(incidents.map((one) => [one.id, one]));
  const ids = new Set<RecordId>();
  for (let one: AttestationRecord | undefined = incident; one !== undefined && !ids.has(one.id);) {
    ids.add(one.id);
    one = one.links.supersedes === undefined ? undefined : known.get(one.links.supersedes);
  }
  return ids;
}

/** What people looked at again. */
export function reviewSection({ kinds }: PackQuestion, { cutKinds, lookedAt }: PackTally): ReportSection {
  const isAsked = kinds?.includes('human_override') !== false;
  const reviews = isAsked ? lookedAt.filter(({ kind }) => kind === 'human_override') : [];
  return {
    id: 'reviews',
    title: 'Reviews by people',
    paragraphs: [
      'A reviewer stands under a pseudonym: the same person of this account at the same node has the same one.',
      ...cutOf(cutKinds, ['human_override']),
    ],
    tables: [
      tableOf(
        'Reviews',
        ['Review', 'Source', 'Recorded', 'Of record', 'Outcome', 'Reviewer'],
        reviews,
        ({ id, sourceId, submittedAt, links, claims }) => [
          objectId('override', id),
          sourceId,
          timeWords(submittedAt),
          links.original ?? '',
          claims.reviewOutcome ?? '',
          claims.reviewer ?? '',
        ],
      ),
    ],
  };
}

/** Retention locks and legal holds of the period, and legal holds that were released within it. */
export function retentionSection({ kinds }: PackQuestion, { cutKinds, lookedAt }: PackTally): ReportSection {
  const isAsked = kinds?.includes('retention_lock') !== false;
  const records = isAsked ? lookedAt.filter(({ kind }) => kind === 'retention_lock') : [];
  const releases = new Map(records.flatMap((one) => (one.links.lock === undefined ? [] : [[one.links.lock, one]])));
  return {
    id: 'retention',
    title: 'Retention',
    paragraphs: [
      'Locks and holds that were placed within the period. One that was placed before it may hold too.',
      ...cutOf(cutKinds, ['retention_lock']),
    ],
    tables: [
      tableOf(
        'Retention locks and legal holds',
        ['Lock', 'Source', 'Placed', 'Covers', 'Days', 'Ends no sooner than'],
        records.filter(({ links }) => links.lock === undefined),
        (lock) => [
          objectId('lock', lock.id),
          lock.sourceId,
          timeWords(lock.submittedAt),
          (lock.claims.scope ?? []).join(' '),
          String(lock.claims.retentionDays ?? ''),
          lock.claims.legalHold === true && !releases.has(lock.id)
            ? 'legal hold, until released'
            : timeWords(timestampOf(lockEnd(periodOf(lock)))),
        ],
      ),
      tableOf(
        'Legal holds that were released',
        ['Lock', 'Source', 'Released', 'Record of the release'],
        [...releases],
        ([lock, release]) => [objectId('lock', lock), release.sourceId, timeWords(release.submittedAt), release.id],
      ),
    ],
  };
}

/** Payloads of the pack's records that are gone. */
export function erasureSection(
  erased: readonly { readonly attestationId: RecordId; readonly erasure: Erasure | null }[],
): ReportSection {
  return {
    id: 'erasures',
    title: 'Erasures',
    paragraphs: [
      'The contents of these records were erased for good. The records and their proofs stand without them.',
    ],
    tables: [
      tableOf(
        'Erased contents',
        ['Record', 'Record of the erasure', 'Erased'],
        erased,
        ({ attestationId, erasure }) => [attestationId, erasure?.id ?? 'not known', timeWords(erasure?.at)],
      ),
    ],
  };
}
