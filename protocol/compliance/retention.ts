import type { AttestationRecord } from '../chain/record.ts';
import { DECISION_EVENT } from '../frameworks/event-types.ts';
import {
  EVENT_SCOPE_PATTERN,
  type EventScope,
  LOCK_SCOPES,
  type LockScope,
  type RecordKind,
} from '../statement/vocabulary.ts';

/** Five years of 365 days: the product's floor of every lock (api-rules §4.2), and no number of the EU AI Act. */
export const MIN_RETENTION_DAYS = 1825;
/** A hundred years. */
export const MAX_RETENTION_DAYS = 36_525;
/** How far ahead a period may start: ten years, for a system that is not on the market yet. */
export const MAX_START_AHEAD_DAYS = 3653;
/** Scopes of one lock. */
export const MAX_LOCK_SCOPES = 32;

const DAY_MS = 24 * 3_600_000;

/** Kinds whose records a scope covers, whatever their event. `all` covers every record. */
const KINDS_OF = {
  decisions: ['decision'],
  sessions: ['session_start', 'session_end'],
  oversight: ['human_override'],
  incidents: ['incident'],
  assessments: ['risk_assessment', 'impact_assessment'],
  'corrective-actions': ['corrective_action'],
  documents: ['document'],
} as const satisfies Readonly<Record<Exclude<LockScope, 'all' | EventScope>, readonly RecordKind[]>>;

/** Every scope of a fixed name but `all`. */
export const NARROW_SCOPES = LOCK_SCOPES.filter((scope) => scope !== 'all');

/**
 * Stands for the event scopes of a lock, `event:DECISION` apart, where scopes are compared: there may be any number. No
 * lock has it.
 */
export const ANY_EVENT_SCOPE = 'event:*';
const DECISION_SCOPE: EventScope = `event:${DECISION_EVENT}`;
const EVENT_SCOPE = new RegExp(EVENT_SCOPE_PATTERN);

/** What tells which locks cover a record. */
export interface Covered {
  readonly kind: RecordKind;
  /** Of a record of kind `decision`; absent: what covers every such record, whatever its event. */
  readonly event?: string;
}

/** What a lock says of the records that it covers. Times in epoch milliseconds. */
export interface LockPeriod {
  readonly lockedAt: number;
  readonly days: number;
  /** Where the period runs from, if not from the lock. */
  readonly startsAt?: number;
}

/** The latest end of several locks, without keeping them: that of every lock is the later of these two. */
export interface LongestPeriods {
  /** The latest end of a lock whatever it covers, in epoch milliseconds; null: no lock. */
  readonly until: number | null;
  /** The longest period, in days; null: no lock. */
  readonly days: number | null;
}

/** What tells which locks cover this record: a decision that names no event is of the event `DECISION`. */
export function coveredAs({ kind, claims }: Pick<AttestationRecord, 'kind' | 'claims'>): Covered {
  return kind === 'decision' ? { kind, event: claims.eventType ?? DECISION_EVENT } : { kind };
}

/** Scopes whose locks cover a record. */
export function scopesCovering({ kind, event }: Covered): readonly LockScope[] {
  const scopes: LockScope[] = ['all'];
  for (const scope of NARROW_SCOPES) {
    const kinds: readonly RecordKind[] = KINDS_OF[scope];
    if (kinds.includes(kind)) scopes.push(scope);
  }
  if (kind !== 'decision' || event === undefined) return scopes;
  if (event !== DECISION_EVENT) scopes.push('documents');
  const named: LockScope = `event:${event}`;
  return isEventScope(named) ? [...scopes, named] : scopes;
}

/** Scopes whose locks cover some record that these cover too; event scopes also as `ANY_EVENT_SCOPE`. */
export function overlappingScopes(scope: readonly LockScope[]): readonly LockScope[] {
  const found = new Set<LockScope>(['all', ...scope]);
  if (scope.includes('all')) return [...found, ...NARROW_SCOPES, ANY_EVENT_SCOPE, DECISION_SCOPE];
  const events = scope.filter(isEventScope);
  if (events.length > 0) found.add('decisions');
  if (events.some(isOfDocuments)) found.add('documents');
  if (scope.includes('decisions')) found.add('documents').add(ANY_EVENT_SCOPE).add(DECISION_SCOPE);
  if (scope.includes('documents')) found.add('decisions').add(ANY_EVENT_SCOPE);
  return [...found];
}

/** Scopes each of whose locks covers all that a scope covers, itself too; none: it stands for others. */
export function scopesAround(scope: string): readonly LockScope[] {
  if (isEventScope(scope)) {
    return [scope, 'all', 'decisions', ...(isOfDocuments(scope) ? (['documents'] as const) : [])];
  }
  const known = LOCK_SCOPES.find((each) => each === scope);
  return known === undefined ? [] : [...new Set<LockScope>([known, 'all'])];
}

/** Scopes that a lock is counted under: its own, and `ANY_EVENT_SCOPE` where it has one that this stands for. */
export function countedScopes(scope: readonly LockScope[]): readonly LockScope[] {
  return scope.some((each) => isEventScope(each) && isOfDocuments(each)) ? [...scope, ANY_EVENT_SCOPE] : scope;
}

/** The event that a scope names; undefined: it names none. */
export function eventOfScope(scope: string): string | undefined {
  return isEventScope(scope) ? scope.slice('event:'.length) : undefined;
}

/** The period of a lock, as it was signed. */
export function periodOf({ submittedAt, claims }: Pick<AttestationRecord, 'submittedAt' | 'claims'>): LockPeriod {
  const startsAt = claims.asserted?.startsAt;
  return {
    lockedAt: Date.parse(submittedAt),
    days: claims.retentionDays ?? 0,
    ...(startsAt === undefined ? {} : { startsAt: Date.parse(startsAt) }),
  };
}

/**
 * When a lock runs out at the soonest: for what was recorded before the lock and before its period starts. In epoch
 * milliseconds. A period that started in the past ends no sooner than 1,825 days after the lock.
 */
export function lockEnd({ lockedAt, days, startsAt }: LockPeriod): number {
  if (startsAt === undefined) return lockedAt + days * DAY_MS;
  return Math.max(startsAt + days * DAY_MS, lockedAt + MIN_RETENTION_DAYS * DAY_MS);
}

/** When a lock runs out for a record of `submittedAt`: its period runs from the later of its start and the record. */
export function recordEnd(period: LockPeriod, submittedAt: number): number {
  return Math.max(lockEnd(period), submittedAt + period.days * DAY_MS);
}

/** Days from the start of a lock's period to `lockEnd`, the last one begun counted whole. */
export function daysOfLock(period: LockPeriod): number {
  return Math.ceil((lockEnd(period) - (period.startsAt ?? period.lockedAt)) / DAY_MS);
}

/** When the last of some locks runs out for a record made at `submittedAt`; null where there is no lock. */
export function lastRecordEnd({ until, days }: LongestPeriods, submittedAt: number): number | null {
  return until === null || days === null ? null : Math.max(until, submittedAt + days * DAY_MS);
}

/** The longest periods of two sets of locks together. */
export function longer(a: LongestPeriods, b: LongestPeriods): LongestPeriods {
  return { until: laterOf(a.until, b.until), days: laterOf(a.days, b.days) };
}

function isEventScope(scope: string): scope is EventScope {
  return EVENT_SCOPE.test(scope);
}

/** Whether records of the event are covered by `documents` too. */
function isOfDocuments(scope: EventScope): boolean {
  return scope !== DECISION_SCOPE;
}

function laterOf(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
