import { type LockScope, RECORD_KINDS, type RecordKind } from '../statement/vocabulary.ts';

/** Five years of 365 days: the product's floor of every lock (api-rules §4.2), and no number of the EU AI Act. */
export const MIN_RETENTION_DAYS = 1825;
/** A hundred years. */
export const MAX_RETENTION_DAYS = 36_525;

/** Kinds of records that a scope names. `all` also covers those that no other scope names. */
export const SCOPE_KINDS = {
  all: RECORD_KINDS,
  decisions: ['decision'],
  sessions: ['session_start', 'session_end'],
  oversight: ['human_override'],
  incidents: ['incident'],
  assessments: ['risk_assessment', 'impact_assessment'],
  'corrective-actions': ['corrective_action'],
} as const satisfies Readonly<Record<LockScope, readonly RecordKind[]>>;

const DAY_MS = 24 * 3_600_000;

/** What a lock says of the records that it covers. Times in epoch milliseconds. */
export interface LockPeriod {
  readonly lockedAt: number;
  readonly days: number;
}

/** The latest end of several locks, without keeping them: that of every lock is the later of these two. */
export interface LongestPeriods {
  /** The latest end of a lock over what was there when it was placed, in epoch milliseconds; null: no lock. */
  readonly until: number | null;
  /** The longest period, in days; null: no lock. */
  readonly days: number | null;
}

/** Scopes whose locks cover a kind of record. */
export function scopesCovering(kind: RecordKind): readonly LockScope[] {
  const scopes: LockScope[] = ['all'];
  for (const scope of NARROW_SCOPES) {
    const kinds: readonly RecordKind[] = SCOPE_KINDS[scope];
    if (kinds.includes(kind)) scopes.push(scope);
  }
  return scopes;
}

const NARROW_SCOPES = ['decisions', 'sessions', 'oversight', 'incidents', 'assessments', 'corrective-actions'] as const;

/** Scopes whose locks cover some record that these cover too. */
export function overlappingScopes(scope: readonly LockScope[]): readonly LockScope[] {
  return scope.includes('all') ? ['all', ...NARROW_SCOPES] : ['all', ...scope];
}

/** When a lock runs out for what was recorded before it. In epoch milliseconds. */
export function lockEnd({ lockedAt, days }: LockPeriod): number {
  return lockedAt + days * DAY_MS;
}

/** When a lock runs out for a record made at `submittedAt`: its period runs from the later of the two. */
export function recordEnd({ lockedAt, days }: LockPeriod, submittedAt: number): number {
  return Math.max(lockedAt, submittedAt) + days * DAY_MS;
}

/** When the last of some locks runs out for a record made at `submittedAt`; null where there is no lock. */
export function lastRecordEnd({ until, days }: LongestPeriods, submittedAt: number): number | null {
  return until === null || days === null ? null : Math.max(until, submittedAt + days * DAY_MS);
}

/** The longest periods of two sets of locks together. */
export function longer(a: LongestPeriods, b: LongestPeriods): LongestPeriods {
  return { until: laterOf(a.until, b.until), days: laterOf(a.days, b.days) };
}

function laterOf(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
