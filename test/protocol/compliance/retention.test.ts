import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  lastRecordEnd,
  lockEnd,
  type LockPeriod,
  type LongestPeriods,
  longer,
  overlappingScopes,
  recordEnd,
  SCOPE_KINDS,
  scopesCovering,
} from '../../../protocol/compliance/retention.ts';
import { calendarWarnings, namedBases, statutoryMinimumDays } from '../../../protocol/compliance/retention-bases.ts';
import { LOCK_SCOPES, type LockScope, RECORD_KINDS } from '../../../protocol/statement/vocabulary.ts';
import { fc } from '../../fixtures/properties.ts';

const DAY_MS = 86_400_000;
const NONE: LongestPeriods = { until: null, days: null };

const moment = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });
const lock = fc.record({ lockedAt: moment, days: fc.integer({ min: 1825, max: 36_525 }) });
const locks = fc.array(lock, { maxLength: 12 });
const scope = fc.oneof(
  fc.constant<readonly LockScope[]>(['all']),
  fc.uniqueArray(fc.constantFrom(...LOCK_SCOPES.filter((word) => word !== 'all')), { minLength: 1 }),
);

function longestOf(periods: readonly LockPeriod[]): LongestPeriods {
  return periods.reduce((before, one) => longer(before, { until: lockEnd(one), days: one.days }), NONE);
}

test('a record is kept for the period from the later of lock and record', () => {
  fc.assert(
    fc.property(lock, moment, (one, submittedAt) => {
      assert.is(recordEnd(one, submittedAt), Math.max(one.lockedAt, submittedAt) + one.days * DAY_MS);
    }),
  );
});

test('the two longest say when the last of all locks runs out for a record, and no lock says never', () => {
  fc.assert(
    fc.property(locks, moment, (all, submittedAt) => {
      const last = all.length === 0 ? null : Math.max(...all.map((one) => recordEnd(one, submittedAt)));
      assert.is(lastRecordEnd(longestOf(all), submittedAt), last);
    }),
  );
});

test('a further lock extends and never shortens', () => {
  fc.assert(
    fc.property(locks, lock, moment, (all, another, submittedAt) => {
      const before = lastRecordEnd(longestOf(all), submittedAt) ?? 0;
      const after = lastRecordEnd(longestOf([...all, another]), submittedAt) ?? 0;
      assert.ok(after >= before);
    }),
  );
});

test('a kind is covered by the scopes that name it, and by all', () => {
  for (const kind of RECORD_KINDS) {
    const naming = LOCK_SCOPES.filter((word) => SCOPE_KINDS[word].some((named) => named === kind));
    assert.equal([...scopesCovering(kind)].sort(), naming.sort(), kind);
    assert.ok(scopesCovering(kind).includes('all'));
  }
});

test('scopes overlap exactly where they cover a kind in common', () => {
  const kindsOf = (words: readonly LockScope[]) => new Set(words.flatMap((word) => [...SCOPE_KINDS[word]]));
  fc.assert(
    fc.property(scope, fc.constantFrom(...LOCK_SCOPES), (words, other) => {
      const shares = SCOPE_KINDS[other].some((kind) => [...kindsOf(words)].includes(kind));
      assert.is(overlappingScopes(words).includes(other), shares);
    }),
  );
});

const bases: readonly (readonly [words: string, minimum: Readonly<Record<string, number>> | null])[] = [
  ['EU AI Act Article 26(5)', { 'EU AI Act 19(1), 26(6)': 184 }],
  ['Article 18 of Regulation (EU) 2024/1689', { 'EU AI Act 19(1), 26(6)': 184, 'EU AI Act 18(1), 47(1)': 3653 }],
  ['EU AI Act, kept for 18 months by our own policy', { 'EU AI Act 19(1), 26(6)': 184 }],
  ['SEC Rule 17a-4', { 'SEC 17a-4(a)': 2192, 'SEC 17a-4(b)': 1096 }],
  ['17 CFR 240.17a-4(b)(4)', { 'SEC 17a-4(b)': 1096 }],
  ['finra rule 4511', { 'FINRA 4511(b)': 2192 }],
  ['MiFID II', { 'MiFID II 16(7)': 1827 }],
  ['C.R.S. 6-1-1703', { 'Colorado SB 26-189': 1096 }],
  ['our own policy', null],
  ['', null],
];

for (const [words, minimum] of bases) {
  test(`the basis "${words}" asks for ${JSON.stringify(minimum)}`, () => {
    assert.equal(statutoryMinimumDays(words), minimum);
  });
}

test('a period of fewer days than calendar years can have is pointed out', () => {
  assert.is(statutoryMinimumDays(undefined), null);
  assert.equal(calendarWarnings(undefined, 1825), []);
  assert.equal(calendarWarnings('EU AI Act 26(6)', 1825), []);
  assert.equal(calendarWarnings('MiFID II', 1827), []);
  assert.equal(calendarWarnings('MiFID II', 1826), [
    'shorter-than-calendar-years: 1826 days are less than the 5 calendar years of MiFID II 16(7), which can be 1827 days',
  ]);
});

test('years of the calendar are counted in the days of the longest such span', () => {
  const named = namedBases('EU AI Act 18(1), 17a-4, 4511, MiFID, MiFIR, RTS 6, SB 26-189 and SB 24-205');
  assert.is(named.length, 10);
  for (const { basis, years, days } of named) {
    if (years === null) continue;
    const spans = Array.from(
      { length: 8 },
      (_, i) => (Date.UTC(2020 + i + years, 0, 1) - Date.UTC(2020 + i, 0, 1)) / DAY_MS,
    );
    assert.is(days, Math.max(...spans), basis);
  }
});

test.run();
