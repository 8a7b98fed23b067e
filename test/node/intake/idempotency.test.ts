import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Idempotency, IDEMPOTENCY_MS } from '../../../node/intake/idempotency.ts';
import { IntakeError } from '../../../node/intake/intake-error.ts';
import { draftOf, type Fate, IntakeFixture, temporaryDirectory } from './intake-fixture.ts';
import { requireWholeStore } from './stored-records.ts';

const KEYED = { key: 'k', request: 'r', kept: { reviewCount: 2 } };

/** Records through the guard; the record's id, or that of the first with what was kept of it. */
function recorder(fixture: IntakeFixture, idempotency: Idempotency) {
  return async (keyed = KEYED, account = 'acme') => {
    const outcome = await idempotency.run(account, keyed, async () => {
      await sleep(2);
      return (await fixture.intake.submit({ ...draftOf('s', {}, { account }), idempotency: keyed })).record.id;
    });
    return typeof outcome === 'string' ? { id: outcome, replayed: false } : { ...outcome.replay, replayed: true };
  };
}

async function codeOf(outcome: Promise<unknown>): Promise<string> {
  const error: unknown = await outcome.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof IntakeError ? error.code : 'none';
}

test('a key answers with its first record and what was kept of it, for a day and over a restart', async () => {
  await using directory = await temporaryDirectory();
  let now = Date.parse('2026-06-01T00:00:00Z');
  let id = '';
  {
    await using fixture = await IntakeFixture.open(directory.path, { now: () => now });
    id = (await recorder(fixture, new Idempotency(fixture.store, () => now))()).id;
  }
  await using fixture = await IntakeFixture.open(directory.path, { now: () => now });
  const record = recorder(fixture, new Idempotency(fixture.store, () => now));
  assert.equal(await record(), { id, kept: { reviewCount: 2 }, replayed: true });
  assert.is(await codeOf(record({ ...KEYED, request: 'another' })), 'idempotency-conflict');
  assert.is((await record(KEYED, 'other')).replayed, false);
  now += IDEMPOTENCY_MS;
  assert.is((await record({ ...KEYED, request: 'another' })).replayed, false);
  await requireWholeStore(fixture.store);
});

test('of duplicates at the same moment one is recorded and the others are answered with it', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await IntakeFixture.open(directory.path);
  const record = recorder(fixture, new Idempotency(fixture.store, Date.now));
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => record()));
  assert.is(new Set(outcomes.map(({ id }) => id)).size, 1);
  assert.is(outcomes.filter(({ replayed }) => !replayed).length, 1);
  assert.is((await requireWholeStore(fixture.store)).length, 1);
});

test('a refused request leaves nothing behind: its twin runs in its place', async () => {
  await using directory = await temporaryDirectory();
  const fates: Fate[] = ['refused', 'refused'];
  await using fixture = await IntakeFixture.open(directory.path, { fate: () => fates.shift() ?? 'kept' });
  const record = recorder(fixture, new Idempotency(fixture.store, Date.now));
  const codes = await Promise.all([codeOf(record()), codeOf(record()), codeOf(record({ ...KEYED, request: 'other' }))]);
  assert.equal(codes, ['store-failed', 'store-failed', 'none']);
});

test.run();
