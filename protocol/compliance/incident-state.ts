import type { Asserted } from '../chain/asserted.ts';
import type { AttestationRecord } from '../chain/record.ts';
import type { Timestamp } from '../time.ts';
import { earliestDue, type Reports } from './incident-clocks.ts';
import { AUTHORITY_NOTIFICATION, DEADLINE_STATES, deadlineState } from './notification-clock.ts';

/** Where an incident stands. What is no longer open has another record that closed it. */
export const INCIDENT_STATES = [
  ...DEADLINE_STATES,
  'notified-initial',
  'notified',
  'closed-not-reportable',
  'superseded',
] as const;
export type IncidentState = (typeof INCIDENT_STATES)[number];

/** What is on record about an incident: of its account, by nodes that speak for it. */
export interface IncidentHistory {
  readonly incident: AttestationRecord;
  /** Records that say that somebody was told of it, or of what it corrects; in any order. */
  readonly notifications: readonly AttestationRecord[];
  readonly isSuperseded: boolean;
}

const AI_ACT = /^eu[-_ ]?ai[-_ ]?act$/i;
const FINAL: ReadonlySet<string> = new Set(['final', 'final-not-reportable']);
/** Stands for the one authority of an incident that names no Member State. */
const ANY = '';

/** Whether a record is a notification, or an event of that name under `evidence-rules/1`. */
export function isNotification({ kind, claims }: Pick<AttestationRecord, 'claims' | 'kind'>): boolean {
  return kind === 'notification' || (kind === 'decision' && claims.eventType === AUTHORITY_NOTIFICATION);
}

/** Whether it also says something: an event with no content, or of a test, tells of nobody who was told. */
export function tellsOfNotification(record: Pick<AttestationRecord, 'claims' | 'kind'>): boolean {
  const { environment, asserted = {} } = record.claims;
  const isEmpty = asserted.emptyData === true || environment === 'test' || environment === 'staging';
  return isNotification(record) && (record.kind === 'notification' || !isEmpty);
}

/** Whether a notification tells an authority of it under the EU AI Act: what the states of an incident go by. */
export function tellsAuthority(record: AttestationRecord): boolean {
  return record.kind === 'decision' || isReport(record);
}

/** When a notification was sent: its caller's word, or the time of the record. */
export function sentAt({ claims, submittedAt }: AttestationRecord): Timestamp {
  return claims.asserted?.sentAt ?? submittedAt;
}

/**
 * Where an incident stands at `now`, in epoch milliseconds. `notified-initial`: every authority concerned has a report;
 * `notified`: each has a final one, or an event `AUTHORITY_NOTIFICATION` says so. The authorities concerned are those of
 * the Member States that the incident asserts, and any one where it asserts none. `superseded`: a correction stands in its
 * place before its own clock has ended.
 */
export function incidentState({ incident, notifications, isSuperseded }: IncidentHistory, now: number): IncidentState {
  if (incident.claims.asserted?.reportability === 'not-reportable') return 'closed-not-reportable';
  if (notifications.some(({ kind }) => kind === 'decision')) return 'notified';
  const reports = notifications.filter(isReport);
  const concerned = incident.claims.asserted?.memberStates ?? [ANY];
  const finals = reports.filter(isFinal);
  if (concerned.every((state) => finals.some((report) => reaches(report, state)))) return 'notified';
  if (isSuperseded) return 'superseded';
  if (concerned.every((state) => reports.some((report) => reaches(report, state)))) return 'notified-initial';
  return deadlineState(Date.parse(earliestDue(incident).dueAt), now);
}

/**
 * What was reported of an incident. The clocks of the EU AI Act end by the first report once every authority concerned
 * has it.
 */
export function reportsOf({ incident, notifications }: Omit<IncidentHistory, 'isSuperseded'>): Reports {
  const others = notifications.flatMap((notification) => {
    const { regime, reportType, to } = notification.claims.asserted ?? {};
    if (regime === undefined || reportType === undefined || AI_ACT.test(regime) || !isAuthority(to)) return [];
    return [{ regime, type: reportType, at: sentAt(notification) }];
  });
  return { own: ownReportTime(incident, notifications), others };
}

function ownReportTime(
  incident: AttestationRecord,
  notifications: readonly AttestationRecord[],
): Timestamp | undefined {
  const events = notifications.filter(({ kind }) => kind === 'decision').map(sentAt);
  const reports = notifications.filter(isReport);
  const concerned = incident.claims.asserted?.memberStates ?? [ANY];
  const firsts = concerned.map(
    (state) =>
      reports
        .filter((report) => reaches(report, state))
        .map(sentAt)
        .sort()[0],
  );
  const all = firsts.filter((first) => first !== undefined);
  const whole = all.length === concerned.length ? all.sort().at(-1) : undefined;
  return [...events, ...(whole === undefined ? [] : [whole])].sort()[0];
}

/** A notification to an authority that is about the EU AI Act, or says nothing else. */
function isReport({ kind, claims: { asserted = {} } }: AttestationRecord): boolean {
  const { regime, to } = asserted;
  return kind === 'notification' && isAuthority(to) && (regime === undefined || AI_ACT.test(regime));
}

function isAuthority(to: Asserted['to']): boolean {
  return to === 'authority' || to === 'ai-office';
}

function reaches({ claims }: AttestationRecord, memberState: string): boolean {
  return memberState === ANY || claims.asserted?.memberState === memberState;
}

function isFinal({ claims }: AttestationRecord): boolean {
  return FINAL.has(claims.asserted?.reportType ?? '');
}
