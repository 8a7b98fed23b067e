import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { DailyDecision } from '../../../../node/accounts/limits/daily-usage.ts';
import type { LimitedAccount } from '../../../../node/accounts/limits/rate-limits.ts';
import { fc } from '../../../fixtures/properties.ts';
import { temporaryDirectory } from '../../intake/intake-fixture.ts';
import { UsageFixture, type UsageFixtureOptions } from './usage-fixture.ts';

const DEVELOPER: LimitedAccount = { id: 'acme', tier: 'developer' };
const CAP = 1_000;
const NOON = Date.UTC(2026, 10, 21, 12);
const MIDNIGHT = Date.UTC(2026, 10, 22);
const HOUR_MS = 3_600_000;

async function withFixture(
  options: UsageFixtureOptions,
  use: (fixture: UsageFixture, directory: string) => Promise<void>,
) {
  await using directory = await temporaryDirectory();
  await using fixture = await UsageFixture.open(directory.path, options);
  await use(fixture, directory.path);
}

function release(decision: DailyDecision): void {
  if (decision.kind === 'reserved') decision.reservation.release();
}

async function remaining(fixture: UsageFixture, account = DEVELOPER): Promise<number | undefined> {
  return (await fixture.usage.standing(account))?.remaining;
}

test('calls side by side never pass the cap, and use all of it', () =>
  withFixture({ now: () => NOON }, async (fixture) => {
    await fixture.record('acme', CAP - 25);
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => fixture.call(DEVELOPER)));
    assert.is(outcomes.filter((outcome) => outcome === 'recorded').length, 25);
    assert.is(outcomes.filter((outcome) => outcome === 'capped').length, 175);
    assert.equal(await fixture.rows(), { 'acme/2026-11-21': CAP });
    assert.is(await remaining(fixture), 0);
  }));

test('a refusal says when the UTC day ends', () =>
  withFixture({ now: () => NOON + 500 }, async (fixture) => {
    await fixture.record('acme', CAP);
    assert.equal(await fixture.usage.reserve(DEVELOPER), {
      kind: 'refused',
      standing: { limit: CAP, remaining: 0 },
      retryAfterSeconds: 12 * 3600,
    });
  }));

test('room that was released is free again, once', () =>
  withFixture({ now: () => NOON }, async (fixture) => {
    const first = await fixture.usage.reserve(DEVELOPER, 600);
    const second = await fixture.usage.reserve(DEVELOPER, 400);
    assert.is((await fixture.usage.reserve(DEVELOPER)).kind, 'refused');
    release(first);
    release(first);
    assert.is(await remaining(fixture), 600);
    release(second);
    assert.is(await remaining(fixture), CAP);
  }));

test('a call for more records than are left gets none of them', () =>
  withFixture({ now: () => NOON }, async (fixture) => {
    await fixture.record('acme', CAP - 10);
    assert.is((await fixture.usage.reserve(DEVELOPER, 11)).kind, 'refused');
    const decision = await fixture.usage.reserve(DEVELOPER, 10);
    assert.is(decision.kind, 'reserved');
    assert.is(await remaining(fixture), 0);
  }));

test('a write that fails moves no count', async () => {
  let isTaken = true;
  await withFixture({ now: () => NOON, isTaken: () => isTaken }, async (fixture) => {
    assert.is(await fixture.call(DEVELOPER), 'recorded');
    isTaken = false;
    for (let i = 0; i < 5; i++) assert.is(await fixture.call(DEVELOPER), 'failed');
    isTaken = true;
    assert.is(await fixture.call(DEVELOPER), 'recorded');
    assert.equal(await fixture.rows(), { 'acme/2026-11-21': 2 });
    assert.is(await remaining(fixture), CAP - 2);
  });
});

test('the count outlives the process', async () => {
  await using directory = await temporaryDirectory();
  for (let start = 1; start <= 3; start++) {
    await using fixture = await UsageFixture.open(directory.path, { now: () => NOON });
    await fixture.record('acme', 300);
    assert.is(await remaining(fixture), CAP - 300 * start);
  }
});

test('a new day begins with nothing used, and what is under way counts in it', async () => {
  let now = MIDNIGHT - 1;
  await withFixture({ now: () => now }, async (fixture) => {
    await fixture.record('acme', CAP - 5);
    const late = await fixture.usage.reserve(DEVELOPER, 5);
    assert.is((await fixture.usage.reserve(DEVELOPER)).kind, 'refused');
    now = MIDNIGHT;
    assert.is(await remaining(fixture), CAP - 5);
    await fixture.record('acme', 5);
    release(late);
    assert.equal(await fixture.rows(), { 'acme/2026-11-21': CAP - 5, 'acme/2026-11-22': 5 });
    assert.is(await remaining(fixture), CAP - 5);
  });
});

test('a clock set back over midnight a little stands still, and opens no second day', async () => {
  let now = MIDNIGHT + 1_000;
  await using directory = await temporaryDirectory();
  {
    await using fixture = await UsageFixture.open(directory.path, { now: () => now });
    await fixture.record('acme', CAP);
    now = MIDNIGHT - 1_000;
    assert.is(await fixture.call(DEVELOPER), 'capped');
  }
  await using fixture = await UsageFixture.open(directory.path, { now: () => now });
  assert.is(await fixture.call(DEVELOPER), 'capped');
  now = MIDNIGHT + 24 * HOUR_MS;
  assert.is(await fixture.call(DEVELOPER), 'recorded');
});

test('what is recorded once a clock that was a day ahead is set right counts against the cap of its own day', async () => {
  let now = NOON;
  await using directory = await temporaryDirectory();
  {
    await using fixture = await UsageFixture.open(directory.path, { now: () => now });
    await fixture.record('acme', 1);
    now += 24 * HOUR_MS;
    await fixture.record('acme', 2);
    now -= 23 * HOUR_MS;
    await fixture.record('acme', CAP - 2);
    assert.is(await fixture.call(DEVELOPER), 'recorded');
    assert.is(await fixture.call(DEVELOPER), 'capped');
    assert.is((await fixture.usage.figures(DEVELOPER)).recordsToday, CAP);
  }
  await using fixture = await UsageFixture.open(directory.path, { now: () => now });
  assert.is(await fixture.call(DEVELOPER), 'capped');
  now += 24 * HOUR_MS;
  assert.is(await remaining(fixture), CAP - 2);
});

test('accounts and days are counted apart within one write', () =>
  withFixture({ now: () => NOON }, async (fixture) => {
    await Promise.all(['acme', 'globex', 'acme', 'initech', 'acme'].map((account) => fixture.record(account, 2)));
    assert.equal(await fixture.rows(), { 'acme/2026-11-21': 6, 'globex/2026-11-21': 2, 'initech/2026-11-21': 2 });
  }));

test('what the node attests by itself is not counted', () =>
  withFixture({ now: () => NOON }, async (fixture) => {
    const audit = { kind: 'key_event', claims: { channel: 'tiered', keyEvent: 'audit-head' } } as const;
    assert.is(await fixture.call(DEVELOPER, audit), 'recorded');
    assert.equal(await fixture.rows(), {});
    const rotated = { kind: 'key_event', claims: { channel: 'tiered', keyEvent: 'agent-rotated' } } as const;
    assert.is(await fixture.call(DEVELOPER, rotated), 'recorded');
    assert.equal(await fixture.rows(), { 'acme/2026-11-21': 1 });
  }));

test('tiers without a cap are counted and never refused', () =>
  withFixture({ now: () => NOON }, async (fixture) => {
    const enterprise: LimitedAccount = { id: 'acme', tier: 'enterprise' };
    await fixture.record('acme', CAP);
    assert.is(await fixture.call(enterprise), 'recorded');
    assert.is(await fixture.usage.standing(enterprise), null);
    assert.equal(await fixture.rows(), { 'acme/2026-11-21': CAP + 1 });
  }));

test('a cache too small for the accounts changes no count', () =>
  withFixture({ now: () => NOON, maxCachedRows: 2 }, async (fixture) => {
    const accounts = Array.from({ length: 12 }, (_, i): LimitedAccount => ({ id: `acc_eu_${i}`, tier: 'developer' }));
    for (let round = 0; round < 20; round++) {
      const outcomes = await Promise.all(accounts.map((account) => fixture.call(account)));
      assert.ok(outcomes.every((outcome) => outcome === 'recorded'));
      await yieldToEventLoop();
    }
    assert.equal(
      Object.values(await fixture.rows()),
      Array.from({ length: 12 }, () => 20),
    );
    for (const account of accounts) assert.is(await remaining(fixture, account), CAP - 20);
  }));

test('the month is the sum of its days', async () => {
  let now = Date.UTC(2026, 9, 31, 23);
  await withFixture({ now: () => now }, async (fixture) => {
    await fixture.record('acme2', 5);
    for (let day = 0; day < 4; day++, now += 24 * HOUR_MS) await fixture.record('acme', 10);
    now -= 24 * HOUR_MS;
    const { day, recordsToday, recordsThisMonth, limit } = await fixture.usage.figures(DEVELOPER);
    assert.equal([day, recordsToday, recordsThisMonth, limit], ['2026-11-03', 10, 30, CAP]);
  });
});

type Step =
  | { readonly do: 'reserve'; readonly records: number }
  | { readonly do: 'record' | 'release'; readonly pick: number }
  | { readonly do: 'wait'; readonly hours: number };

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('reserve'), records: fc.integer({ min: 1, max: 400 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('record'), pick: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release'), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait'), hours: fc.integer({ min: -30, max: 30 }) }) },
);

test('whatever is reserved, recorded and given back in any order: no day passes the cap, and nothing leaks', () =>
  fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 40 }), async (list) => {
      let now = NOON;
      await withFixture({ now: () => now }, async (fixture) => {
        const held: { readonly records: number; readonly decision: DailyDecision }[] = [];
        for (const step of list) {
          if (step.do === 'wait') now += step.hours * HOUR_MS;
          else if (step.do === 'reserve') {
            const decision = await fixture.usage.reserve(DEVELOPER, step.records);
            if (decision.kind === 'reserved') held.push({ records: step.records, decision });
          } else {
            const [call] = held.splice(step.pick % Math.max(1, held.length), 1);
            if (call === undefined) continue;
            if (step.do === 'record') await fixture.record('acme', call.records);
            release(call.decision);
          }
        }
        for (const { decision } of held) release(decision);
        const rows = await fixture.rows();
        for (const [day, records] of Object.entries(rows)) assert.ok(records <= CAP, `${day}: ${records}`);
        const today = rows[`acme/${new Date(now).toISOString().slice(0, 10)}`] ?? 0;
        assert.is(await remaining(fixture), CAP - today);
      });
    }),
    { numRuns: 40 },
  ));

test.run();
