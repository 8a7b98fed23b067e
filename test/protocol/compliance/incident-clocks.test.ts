import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Asserted } from '../../../protocol/chain/asserted.ts';
import { earliestDue, incidentClocks, inheritedClock } from '../../../protocol/compliance/incident-clocks.ts';
import type { ClockedRecord } from '../../../protocol/compliance/notification-clock.ts';
import { INCIDENT_CRITERIA, SEVERITIES } from '../../../protocol/statement/vocabulary.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { fc } from '../../fixtures/properties.ts';

const DAY_MS = 86_400_000;
const AWARENESS = Date.UTC(2026, 0, 1);

function incident(claims: Partial<ClockedRecord['claims']>): ClockedRecord {
  const submittedAt = timestampOf(AWARENESS + DAY_MS);
  return { submittedAt, claims: { severity: 'serious', clockStart: timestampOf(AWARENESS), ...claims } };
}

function dueDay(record: ClockedRecord): number {
  return (Date.parse(earliestDue(record).dueAt) - AWARENESS) / DAY_MS;
}

test('a serious incident of critical infrastructure is due on day 2, and one with a death on day 10', () => {
  assert.is(dueDay(incident({ criteria: ['critical-infrastructure'] })), 2);
  assert.is(dueDay(incident({ criteria: ['death'] })), 10);
  assert.is(dueDay(incident({ criteria: ['health'] })), 15);
  assert.is(earliestDue(incident({ criteria: ['death'], severity: 'fatal' })).ref, 'service');
});

test('a death that was reported on day 6 is not after the end of Article 73(4)', () => {
  const reported = { own: timestampOf(AWARENESS + 6 * DAY_MS), others: [] };
  const clocks = incidentClocks(incident({ severity: 'fatal', criteria: ['death'] }), reported);
  const after = (ref: string) => clocks.find((clock) => clock.ref === ref)?.reportedAfterDueAt;
  assert.equal([after('73(4)'), after('73(3)'), after('service')], [false, true, true]);
});

test('clocks that start on the last day there is end with it', () => {
  const at = timestampOf(Date.UTC(9999, 11, 31));
  const triggers = ['dora', 'nis2', 'gdpr'].map((regime) => ({ regime, at }));
  const record = incident({ clockStart: at, criteria: ['death'], asserted: { triggers } });
  const others = triggers.flatMap(({ regime }) => [
    { regime, type: 'initial', at } as const,
    { regime, type: 'follow-up', at } as const,
  ]);
  const ends = incidentClocks(record, { others }).flatMap(({ dueAt }) => dueAt ?? []);
  assert.equal(new Set(ends), new Set(['9999-12-31T04:00:00.000Z', '9999-12-31T23:59:59.999Z']));
  assert.is(earliestDue(record).dueAt, '9999-12-31T23:59:59.999Z');
});

test('every clock names its source, and no regime of another trigger has an end by itself', () => {
  for (const { regime, dueAt, source } of incidentClocks(incident({}), { others: [] })) {
    assert.ok(source.length > 0);
    assert.is(dueAt === null, regime !== 'service' && regime !== 'eu-ai-act', regime);
  }
});

test('a later report of another regime runs from the report before it, and no earlier report ends it', () => {
  const at = (day: number) => timestampOf(AWARENESS + day * DAY_MS);
  const dora = incident({ asserted: { triggers: [{ regime: 'dora', at: at(0) }] } });
  const report = (type: 'final' | 'follow-up' | 'initial', day: number) => ({ regime: 'dora', type, at: at(day) });
  const ends = (...others: readonly ReturnType<typeof report>[]) =>
    incidentClocks(dora, { others })
      .filter(({ regime }) => regime === 'dora')
      .map(({ dueAt, reportedAfterDueAt }) => [dueAt, reportedAfterDueAt]);
  const due = timestampOf(AWARENESS + DAY_MS / 6);
  assert.equal(ends(), [
    [due, null],
    [null, null],
    [null, null],
  ]);
  assert.equal(ends(report('initial', 0)), [
    [due, false],
    [at(3), null],
    [null, null],
  ]);
  assert.equal(ends(report('initial', 0), report('follow-up', 4), report('final', 30)), [
    [due, false],
    [at(3), true],
    ['2026-02-05T00:00:00.000Z', false],
  ]);
});

test('a month that starts on a day which the next one has not ends with that one', () => {
  const at = timestampOf(Date.UTC(2026, 0, 31));
  const others = [{ regime: 'nis2', type: 'initial' as const, at }];
  const final = incidentClocks(incident({}), { others }).find(({ ref }) => ref === '23 final');
  assert.is(final?.dueAt, '2026-02-28T00:00:00.000Z');
});

test('however an incident is corrected, its earliest end moves no later than one that was asserted', () => {
  const claims = fc.record({
    severity: fc.constantFrom(...SEVERITIES),
    criteria: fc.subarray([...INCIDENT_CRITERIA]),
    role: fc.constantFrom('provider' as const, 'deployer' as const),
    awareness: fc.option(fc.integer({ min: -30, max: 30 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(claims, { minLength: 1, maxLength: 6 }), (steps) => {
      let before: ClockedRecord | undefined;
      for (const { severity, criteria, role, awareness } of steps) {
        const own = awareness === undefined ? undefined : timestampOf(AWARENESS + awareness * DAY_MS);
        const inherited = before && inheritedClock(before, { awareness: own, criteria, asserted: {} });
        const clockStart = inherited === undefined ? own : inherited.clockStart;
        const asserted: Asserted = { role, ...inherited?.asserted };
        const record: ClockedRecord = {
          submittedAt: timestampOf(AWARENESS + 40 * DAY_MS),
          claims: { severity, criteria, asserted, ...(clockStart && { clockStart }) },
        };
        if (before !== undefined) {
          assert.ok(Date.parse(earliestDue(record).dueAt) <= Date.parse(earliestDue(before).dueAt));
        }
        before = record;
      }
    }),
  );
});

test.run();
