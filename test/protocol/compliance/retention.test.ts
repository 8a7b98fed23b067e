import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  lastRecordEnd,
  lockEnd,
  type LockPeriod,
  type LongestPeriods,
  longer,
  ANY_EVENT_SCOPE,
  countedScopes,
  type Covered,
  coveredAs,
  daysOfLock,
  MAX_START_AHEAD_DAYS,
  MIN_RETENTION_DAYS,
  overlappingScopes,
  periodOf,
  recordEnd,
  scopesCovering,
} from '../../../protocol/compliance/retention.ts';
import { GOVERNANCE_KINDS, LOCK_SCOPES, type LockScope, RECORD_KINDS } from '../../../protocol/statement/vocabulary.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { fc } from '../../fixtures/properties.ts';

const DAY_MS = 86_400_000;
const NONE: LongestPeriods = { until: null, days: null };

const moment = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });
const days = fc.integer({ min: MIN_RETENTION_DAYS, max: 36_525 });
const lock: fc.Arbitrary<LockPeriod> = fc
  .tuple(moment, days, fc.option(fc.integer({ min: -50_000, max: MAX_START_AHEAD_DAYS }), { nil: undefined }))
  .map(([lockedAt, length, ahead]) =>
    ahead === undefined
      ? { lockedAt, days: length }
      : { lockedAt, days: length, startsAt: Math.max(0, lockedAt + ahead * DAY_MS) },
  );
const locks = fc.array(lock, { maxLength: 12 });
const EVENTS = ['DECISION', 'TECH_DOC', 'BOOKS_RECORD', 'A1'];
const EVENT_SCOPES = EVENTS.map((event): LockScope => `event:${event}`);
const NARROW = [...LOCK_SCOPES.filter((word) => word !== 'all'), ...EVENT_SCOPES];
const scope = fc.oneof(
  fc.constant<readonly LockScope[]>(['all']),
  fc.uniqueArray(fc.constantFrom(...NARROW), { minLength: 1 }),
);
/** One of each sort of record; `lower case` is an event that no scope can name. */
const RECORDS: readonly Covered[] = [
  ...RECORD_KINDS.filter((kind) => kind !== 'decision').map((kind) => ({ kind })),
  ...[...EVENTS, 'lower case'].map((event) => ({ kind: 'decision' as const, event })),
];
const covered = fc.constantFrom(...RECORDS);

function longestOf(periods: readonly LockPeriod[]): LongestPeriods {
  return periods.reduce((before, one) => longer(before, { until: lockEnd(one), days: one.days }), NONE);
}

test('a record is under a lock for the period from the later of lock and record', () => {
  fc.assert(
    fc.property(moment, days, moment, (lockedAt, length, submittedAt) => {
      const end = recordEnd({ lockedAt, days: length }, submittedAt);
      assert.is(end, Math.max(lockedAt, submittedAt) + length * DAY_MS);
    }),
  );
});

test('with a start the period runs from the later of start and record, and never ends before the floor', () => {
  fc.assert(
    fc.property(lock, moment, (one, submittedAt) => {
      const { lockedAt, startsAt = lockedAt } = one;
      const counted = Math.max(startsAt, submittedAt) + one.days * DAY_MS;
      assert.is(recordEnd(one, submittedAt), Math.max(counted, lockedAt + MIN_RETENTION_DAYS * DAY_MS));
      assert.ok(recordEnd(one, submittedAt) >= lockEnd(one));
    }),
  );
});

test('a lock of ten years set before market entry ends ten years after it, and one set long after at the floor', () => {
  const lockedAt = Date.UTC(2026, 10, 22);
  const ahead = { lockedAt, days: 3653, startsAt: Date.UTC(2027, 11, 2) };
  assert.is(new Date(lockEnd(ahead)).toISOString(), '2037-12-02T00:00:00.000Z');
  const past = { lockedAt, days: 3653, startsAt: Date.UTC(2020, 0, 1) };
  assert.is(lockEnd(past), lockedAt + MIN_RETENTION_DAYS * DAY_MS);
  assert.is(daysOfLock(past), (lockEnd(past) - past.startsAt) / DAY_MS);
  assert.is(daysOfLock({ lockedAt, days: 1825 }), 1825);
  const young = Date.UTC(2026, 5, 1);
  assert.is(recordEnd(past, young), young + 3653 * DAY_MS, 'a record made after the start and before the lock');
});

test('the two longest say when the last of all locks runs out for a record, and no lock says never', () => {
  fc.assert(
    fc.property(locks, moment, (all, submittedAt) => {
      const last = all.length === 0 ? null : Math.max(...all.map((one) => recordEnd(one, submittedAt)));
      assert.is(lastRecordEnd(longestOf(all), submittedAt), last);
    }),
  );
});

test('whatever locks there are, a further one makes no end earlier, of any record', () => {
  const placed = fc.record({ scope, period: lock });
  fc.assert(
    fc.property(fc.array(placed, { maxLength: 12 }), placed, covered, moment, (all, another, record, submittedAt) => {
      const endOf = (some: typeof all) => {
        const over = some.filter((one) => one.scope.some((word) => scopesCovering(record).includes(word)));
        return lastRecordEnd(longestOf(over.map(({ period }) => period)), submittedAt) ?? 0;
      };
      assert.ok(endOf([...all, another]) >= endOf(all));
    }),
  );
});

/** Whether a lock of this scope covers a record, said anew. */
function covers(word: LockScope, { kind, event }: Covered): boolean {
  const isDecision = kind === 'decision';
  switch (word) {
    case 'all':
      return true;
    case 'decisions':
      return isDecision;
    case 'sessions':
      return kind.startsWith('session_');
    case 'oversight':
      return kind === 'human_override';
    case 'incidents':
      return kind === 'incident';
    case 'assessments':
      return kind.endsWith('_assessment');
    case 'corrective-actions':
      return kind === 'corrective_action';
    case 'documents':
      return kind === 'document' || (isDecision && event !== 'DECISION');
    default:
      return isDecision && word === `event:${event}`;
  }
}

test('a record is covered by the scopes that say so, and by no other', () => {
  for (const record of RECORDS) {
    const saying = [...LOCK_SCOPES, ...EVENT_SCOPES].filter((word) => covers(word, record));
    assert.equal([...scopesCovering(record)].sort(), saying.sort(), JSON.stringify(record));
  }
  for (const kind of GOVERNANCE_KINDS) {
    assert.equal([...scopesCovering({ kind })], kind === 'document' ? ['all', 'documents'] : ['all'], kind);
  }
  assert.equal(scopesCovering({ kind: 'decision' }), ['all', 'decisions'], 'every decision, whatever its event');
});

test('a decision that names no event is of the event DECISION', () => {
  assert.equal(coveredAs({ kind: 'decision', claims: { channel: 'direct' } }), { kind: 'decision', event: 'DECISION' });
  const told = { channel: 'tiered', eventType: 'TECH_DOC' } as const;
  assert.equal(coveredAs({ kind: 'decision', claims: told }), { kind: 'decision', event: 'TECH_DOC' });
  assert.equal(coveredAs({ kind: 'incident', claims: told }), { kind: 'incident' });
});

test('scopes overlap exactly where they cover a record in common, however many events are named', () => {
  fc.assert(
    fc.property(
      scope,
      fc.oneof(
        scope,
        fc.constantFrom(...LOCK_SCOPES).map((word) => [word]),
      ),
      (words, other) => {
        const shares = RECORDS.some(
          (record) => words.some((word) => covers(word, record)) && other.some((word) => covers(word, record)),
        );
        const looked = overlappingScopes(words);
        assert.is(
          countedScopes(other).some((word) => looked.includes(word)),
          shares,
        );
      },
    ),
  );
});

test('a lock is counted under one more scope where it names events, and once', () => {
  assert.equal(countedScopes(['event:TECH_DOC', 'event:A1']), ['event:TECH_DOC', 'event:A1', ANY_EVENT_SCOPE]);
  assert.equal(countedScopes(['event:DECISION', 'documents']), ['event:DECISION', 'documents']);
  assert.is(overlappingScopes(['all']).length, new Set(overlappingScopes(['all'])).size);
});

test('the period of a lock is read from what was signed', () => {
  const submittedAt = timestampOf(Date.UTC(2026, 10, 22));
  const claims = { channel: 'direct', retentionDays: 1825 } as const;
  const lockedAt = Date.UTC(2026, 10, 22);
  assert.equal(periodOf({ submittedAt, claims }), { lockedAt, days: 1825 });
  const startsAt = timestampOf(Date.UTC(2025, 0, 1));
  assert.equal(periodOf({ submittedAt, claims: { ...claims, asserted: { startsAt } } }), {
    lockedAt,
    days: 1825,
    startsAt: Date.UTC(2025, 0, 1),
  });
});

test.run();
