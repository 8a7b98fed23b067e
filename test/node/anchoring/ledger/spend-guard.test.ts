import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SpendGuard, type SpendLimits } from '../../../../node/anchoring/ledger/spend-guard.ts';
import { Store } from '../../../../node/store/store.ts';
import { fc } from '../../../fixtures/properties.ts';
import { temporaryDirectory } from '../anchoring-node.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = 20_000 * DAY_MS;
const LIMITS: SpendLimits = { transactionsPerHour: 3, transactionsPerDay: 5, tinybarsPerDay: 400, feeTinybars: 100 };

async function withGuard(limits: Partial<SpendLimits>, use: (guard: SpendGuard, store: Store) => Promise<void>) {
  await using directory = await temporaryDirectory();
  await using store = await Store.open(directory.path);
  await use(await SpendGuard.open(store, limits), store);
}

async function spend(guard: SpendGuard, store: Store, now: number): Promise<string> {
  const admission = guard.admit(now);
  if (admission.kind === 'waits') return admission.limit;
  await store.write([admission.record]);
  guard.commit(admission);
  return 'granted';
}

test('each limit holds to the end of its window and no longer', () =>
  withGuard(LIMITS, async (guard, store) => {
    for (let i = 0; i < 3; i++) assert.is(await spend(guard, store, START), 'granted');
    assert.is(await spend(guard, store, START + HOUR_MS - 1), 'hour');
    assert.is(await spend(guard, store, START + HOUR_MS), 'granted');
    assert.is(await spend(guard, store, START + HOUR_MS), 'tinybars');
    const waiting = guard.admit(START + 5 * HOUR_MS);
    assert.is(waiting.kind === 'waits' ? waiting.until : 0, START + DAY_MS);
    assert.is(await spend(guard, store, START + DAY_MS), 'granted');
  }));

test('a day of transactions is a limit of its own', () =>
  withGuard({ ...LIMITS, tinybarsPerDay: 1e9 }, async (guard, store) => {
    for (let i = 0; i < 5; i++) assert.is(await spend(guard, store, START + i * HOUR_MS), 'granted');
    assert.is(await spend(guard, store, START + 5 * HOUR_MS), 'day');
  }));

test('what was spent is remembered across a restart; a grant that was never written is not', () =>
  withGuard(LIMITS, async (guard, store) => {
    await spend(guard, store, START);
    guard.admit(START);
    guard.admit(START);
    assert.is(guard.state(START).hour.transactions, 1);
    const again = await SpendGuard.open(store, LIMITS);
    assert.equal(again.state(START), guard.state(START));
    assert.is(again.state(START).day.tinybars, 100);
    assert.is(again.state(START + DAY_MS).day.transactions, 0);
  }));

test('a clock that was a year ahead holds nothing back once it is set', () =>
  withGuard(LIMITS, async (guard, store) => {
    const later = START + 365 * DAY_MS;
    for (let i = 0; i < 3; i++) assert.is(await spend(guard, store, later), 'granted');
    assert.is(await spend(guard, store, later), 'hour');
    const again = await SpendGuard.open(store, LIMITS);
    for (let i = 0; i < 3; i++) assert.is(await spend(again, store, START), 'granted');
    assert.is(await spend(again, store, START), 'hour');
    assert.is(await spend(again, store, START + HOUR_MS), 'granted');
  }));

test('no clock, forward or back, gets more out of a window than its limit', async () => {
  await withGuard({}, async (_guard, store) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 3 * HOUR_MS }), { maxLength: 40 }), async (times) => {
        await store.write([{ type: 'del', key: 'spend/anchoring' }]);
        const guard = await SpendGuard.open(store, { ...LIMITS, tinybarsPerDay: 1e9, transactionsPerDay: 1e9 });
        let latest = 0;
        const granted = new Map<number, number>();
        for (const time of times) {
          latest = Math.max(latest, Math.floor(time / HOUR_MS));
          const admission = guard.admit(START + time);
          if (admission.kind === 'waits') continue;
          guard.commit(admission);
          granted.set(latest, (granted.get(latest) ?? 0) + 1);
        }
        return [...granted.values()].every((count) => count <= 3);
      }),
      { numRuns: 50 },
    );
  });
});

test.run();
