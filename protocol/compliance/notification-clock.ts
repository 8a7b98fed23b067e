import type { AttestationRecord } from '../chain/record.ts';
import type { Severity } from '../statement/vocabulary.ts';
import { cappedTimestampOf, type Timestamp } from '../time.ts';

/**
 * Days from the start of the service's own clock until the authority is to be told (api-rules §4.2). By severity alone: a
 * period of the law may end before it, and `earliestDue` names that one.
 */
export const NOTIFICATION_DAYS: Readonly<Record<Severity, number>> = { serious: 15, critical: 2, fatal: 2 };

/** Event of the decision-shaped record that says that the authority was told (api-rules §9). */
export const AUTHORITY_NOTIFICATION = 'AUTHORITY_NOTIFICATION';

/** How long before its end a clock counts as due soon. In milliseconds. */
export const DUE_SOON_MS = 24 * 3_600_000;

/** The periods of EU AI Act Art. 73, side by side: which of them applies is for the caller to say, never for us. */
export const STATUTORY_PERIODS = [
  { ref: 'EU AI Act 73(2)', days: 15, condition: 'serious incident, general' },
  { ref: 'EU AI Act 73(3)', days: 2, condition: 'widespread infringement or Art 3(49)(b)' },
  { ref: 'EU AI Act 73(4)', days: 10, condition: 'death of a person' },
] as const;

export const CLOCK_NOTE =
  'Each dueAt is the start of the clock plus days of 24 hours in UTC, the earliest reasonable reading of the period; ' +
  'working days and holidays (Regulation 1182/71) are not taken into account. The law asks for a report immediately ' +
  'once a causal link is established, and allows an incomplete first one. Which clock applies is not determined here; ' +
  'not legal advice.';

export const DEADLINE_STATES = ['open', 'due-soon', 'overdue'] as const;
export type DeadlineState = (typeof DEADLINE_STATES)[number];

export const CLOCK_BASES = ['awarenessAt', 'submittedAt', 'supersedes'] as const;
/** When the clock of an incident started, and by which of its times. */
export interface ClockStart {
  readonly at: Timestamp;
  readonly basis: (typeof CLOCK_BASES)[number];
}

export type StatutoryClock = Readonly<Record<'ref' | 'condition', string>> & {
  readonly days: number;
  readonly dueAt: Timestamp;
};

/** The facts of an incident's record that its clock follows from. */
export type ClockedRecord = Pick<AttestationRecord, 'submittedAt'> & {
  readonly claims: Pick<AttestationRecord['claims'], 'asserted' | 'clockStart' | 'criteria' | 'severity'>;
};

const DAY_MS = 24 * 3_600_000;

/**
 * Awareness as the caller asserted it, else the moment of the record: never the incident's own beginning. A correction
 * starts no later than what it corrects.
 */
export function clockStartOf({ claims: { asserted, clockStart }, submittedAt }: ClockedRecord): ClockStart {
  if (clockStart === undefined) return { at: submittedAt, basis: 'submittedAt' };
  return { at: clockStart, basis: asserted?.clockInherited === true ? 'supersedes' : 'awarenessAt' };
}

/** When the authority is to be told of an incident by the product's own clock. */
export function notificationDueAt(record: ClockedRecord): Timestamp {
  return daysAfter(clockStartOf(record).at, NOTIFICATION_DAYS[record.claims.severity ?? 'critical']);
}

/** Every statutory period from one start on. */
export function statutoryClocks(start: Timestamp): StatutoryClock[] {
  return STATUTORY_PERIODS.map(({ ref, days, condition }) => ({ ref, days, dueAt: daysAfter(start, days), condition }));
}

/**
 * Where a clock stands while nobody has been told: overdue only once its end has passed. Times in epoch milliseconds.
 */
export function deadlineState(dueAt: number, now: number): DeadlineState {
  if (now > dueAt) return 'overdue';
  return dueAt - now <= DUE_SOON_MS ? 'due-soon' : 'open';
}

/** Whole days of 24 hours after a time, as far as there are years. */
export function daysAfter(at: Timestamp, days: number): Timestamp {
  return cappedTimestampOf(Date.parse(at) + days * DAY_MS);
}
