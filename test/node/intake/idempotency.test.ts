import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type KeyedRequest, Idempotency, IDEMPOTENCY_MS, idempotencyTable } from '../../../node/intake/idempotency.ts';
import { IntakeError } from '../../../node/intake/intake-error.ts';
import type { Store } from '../../../node/store/store.ts';
import { recordId } from '../../../protocol/ids.ts';
import { filesHolding } from '../../fixtures/store-files.ts';
import { draftOf, type Fate, IntakeFixture, temporaryDirectory } from './intake-fixture.ts';
import { requireWholeStore } from './stored-records.ts';

const KEYED = { key: 'k', request: 'r' };
const KEPT = { reviewCount: 2, warnings: ['Anna Schmidt: not a documented field'] };
const PAYLOAD_KEY = new Uint8Array(32).fill(7);
const START = Date.parse('2026-06-01T00:00:00Z');

function idempotencyOf(
  { store }: IntakeFixture,
  now: () => number = Date.now,
  payloadKey = PAYLOAD_KEY,
  isClockRight = () => true,
): Idempotency {
  return new Idempotency({ store, payloadKey, now, isClockRight, log: { warn: () => undefined } });
}

/** Records through the guard; the record's id, or that of the first with what was kept of it. */
function recorder(fixture: IntakeFixture, idempotency: Idempotency) {
  return async (keyed: KeyedRequest = KEYED, account = 'acme') => {
    const outcome = await idempotency.run(account, keyed, async (mark) => {
      await sleep(2);
      return (await fixture.intake.submit({ ...draftOf('s', {}, { account }), idempotency: mark(KEPT) })).record.id;
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

/** The rows of idempotency keys as text, by key. */
async function rowsOf(store: Store): Promise<Map<string, string>> {
  const rows = await Array.fromAsync(
    store.range({ gte: `${idempotencyTable.name}/`, lt: `${idempotencyTable.name}0` }),
  );
  return new Map(rows.map(([key, value]) => [key, Buffer.from(value).toString()]));
}

test('a key answers with its first record and what was kept of it, for a day and over a restart', async () => {
  await using directory = await temporaryDirectory();
  let now = START;
  let id = '';
  {
    await using fixture = await IntakeFixture.open(directory.path, { now: () => now });
    id = (
      await recorder(
        fixture,
        idempotencyOf(fixture, () => now),
      )()
    ).id;
  }
  await using fixture = await IntakeFixture.open(directory.path, { now: () => now });
  const idempotency = idempotencyOf(fixture, () => now);
  const record = recorder(fixture, idempotency);
  now += IDEMPOTENCY_MS - 1;
  await idempotency.sweep();
  assert.equal(await record(), { id, kept: KEPT, replayed: true });
  assert.is(await codeOf(record({ ...KEYED, request: 'another' })), 'idempotency-conflict');
  assert.is((await record(KEYED, 'other')).replayed, false);
  now += 1;
  assert.is((await record({ ...KEYED, request: 'another' })).replayed, false);
  await requireWholeStore(fixture.store);
});

test('neither what is kept nor the request can be read or guessed without the key of the node and that of the caller', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await IntakeFixture.open(directory.path);
  await recorder(fixture, idempotencyOf(fixture))({ key: 'k', request: 'hash-of-the-request' });
  for (const text of ['Schmidt', 'hash-of-the-request']) {
    assert.equal(await filesHolding(fixture.store.directory, Buffer.from(text)), [], text);
    for (const row of (await rowsOf(fixture.store)).values()) assert.not(row.includes(text));
  }
  const other = recorder(fixture, idempotencyOf(fixture, Date.now, new Uint8Array(32)));
  assert.is(await codeOf(other({ key: 'k', request: 'hash-of-the-request' })), 'idempotency-conflict');
  const [[key, row] = ['', '']] = await rowsOf(fixture.store);
  const damaged = row.replace(/("sealed":"....)./, (_, before: string) => `${before}${row.includes('-') ? 'A' : '-'}`);
  await fixture.store.write([{ type: 'put', key, value: Buffer.from(damaged) }]);
  const again = recorder(fixture, idempotencyOf(fixture))({ key: 'k', request: 'hash-of-the-request' });
  assert.match(String(await again.catch((error: unknown) => error)), /does not open/);
});

test('a request of which nothing is kept leaves no text, and equal texts of two keys look different', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await IntakeFixture.open(directory.path);
  const idempotency = idempotencyOf(fixture);
  const marks: string[] = [];
  for (const key of ['a', 'b']) {
    await idempotency.run('acme', { key, request: 'r' }, async (mark) => {
      assert.equal(Object.keys(mark()), ['key', 'request']);
      const { request, sealed = '' } = mark(KEPT);
      marks.push(request, sealed, mark(KEPT).sealed ?? '');
    });
  }
  assert.is(new Set(marks).size, 6);
});

test('rows are removed once their day is over, and no others', async () => {
  await using directory = await temporaryDirectory();
  let now = START;
  await using fixture = await IntakeFixture.open(directory.path, { now: () => now });
  const idempotency = idempotencyOf(fixture, () => now);
  const record = recorder(fixture, idempotency);
  await Promise.all(Array.from({ length: 600 }, (_, i) => record({ key: `old ${i}`, request: 'r' })));
  const unread = `${idempotencyTable.name}/acme/0`;
  await fixture.store.write([{ type: 'put', key: unread, value: Buffer.from('{}') }]);
  now += IDEMPOTENCY_MS / 2;
  await record({ key: 'young', request: 'r' });
  now += IDEMPOTENCY_MS / 2;
  await idempotency.sweep();
  const left = [...(await rowsOf(fixture.store)).keys()];
  assert.equal([left.length, left.includes(unread)], [2, true]);
  assert.is((await record({ key: 'young', request: 'r' })).replayed, true);
  await fixture.store.write([{ type: 'del', key: unread }]);
  await requireWholeStore(fixture.store);
});

test('a key that is used again while its row is removed keeps the row of its new request', async () => {
  await using directory = await temporaryDirectory();
  let now = START;
  await using fixture = await IntakeFixture.open(directory.path, { now: () => now });
  const idempotency = idempotencyOf(fixture, () => now);
  const record = recorder(fixture, idempotency);
  await record();
  now += IDEMPOTENCY_MS;
  const write = fixture.store.write.bind(fixture.store);
  fixture.store.write = async (operations) => {
    if (operations.every(({ type }) => type === 'del')) await sleep(30);
    await write(operations);
  };
  const sweep = idempotency.sweep();
  await sleep(10);
  const [again] = await Promise.all([record(), sweep]);
  assert.is(again.replayed, false);
  assert.equal(await record(), { id: again.id, kept: KEPT, replayed: true });
});

test('no row is over by a clock that is not known to be right: then, and set back, the key answers as before', async () => {
  await using directory = await temporaryDirectory();
  let now = START;
  let isRight = false;
  await using fixture = await IntakeFixture.open(directory.path, { now: () => now });
  const idempotency = idempotencyOf(
    fixture,
    () => now,
    PAYLOAD_KEY,
    () => isRight,
  );
  const record = recorder(fixture, idempotency);
  const { id } = await record();
  now += IDEMPOTENCY_MS;
  assert.equal(await record(), { id, kept: KEPT, replayed: true });
  await idempotency.sweep();
  now -= IDEMPOTENCY_MS;
  assert.equal(await record(), { id, kept: KEPT, replayed: true });
  now += IDEMPOTENCY_MS;
  isRight = true;
  await idempotency.sweep();
  assert.is((await rowsOf(fixture.store)).size, 0);
});

test('what cannot be removed now is removed later, and ends nothing', async () => {
  await using directory = await temporaryDirectory();
  let now = START;
  const fates: Fate[] = [];
  await using fixture = await IntakeFixture.open(directory.path, {
    now: () => now,
    fate: () => fates.shift() ?? 'kept',
  });
  const idempotency = idempotencyOf(fixture, () => now);
  await recorder(fixture, idempotency)();
  now += IDEMPOTENCY_MS;
  fates.push('refused');
  await idempotency.sweep();
  assert.is((await rowsOf(fixture.store)).size, 1);
  await idempotency.sweep();
  assert.is((await rowsOf(fixture.store)).size, 0);
});

test('a key that came under the release before answers as it did, for its day', async () => {
  await using directory = await temporaryDirectory();
  let now = START;
  await using fixture = await IntakeFixture.open(directory.path, { now: () => now });
  const idempotency = idempotencyOf(fixture, () => now);
  const record = recorder(fixture, idempotency);
  const { id } = await record();
  const [[key] = ['']] = await rowsOf(fixture.store);
  const before = { id: recordId(id), request: KEYED.request, at: now, kept: KEPT };
  await fixture.store.write([idempotencyTable.put(key.split('/').slice(1), before)]);
  assert.equal(await record(), { id, kept: KEPT, replayed: true });
  assert.is(await codeOf(record({ ...KEYED, request: 'another' })), 'idempotency-conflict');
  now += IDEMPOTENCY_MS;
  await idempotency.sweep();
  assert.is((await rowsOf(fixture.store)).size, 0);
});

test('of duplicates at the same moment one is recorded and the others are answered with it', async () => {
  await using directory = await temporaryDirectory();
  await using fixture = await IntakeFixture.open(directory.path);
  const record = recorder(fixture, idempotencyOf(fixture));
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => record()));
  assert.is(new Set(outcomes.map(({ id }) => id)).size, 1);
  assert.is(outcomes.filter(({ replayed }) => !replayed).length, 1);
  assert.is((await requireWholeStore(fixture.store)).length, 1);
});

test('a refused request leaves nothing behind: its twin runs in its place', async () => {
  await using directory = await temporaryDirectory();
  const fates: Fate[] = ['refused', 'refused'];
  await using fixture = await IntakeFixture.open(directory.path, { fate: () => fates.shift() ?? 'kept' });
  const record = recorder(fixture, idempotencyOf(fixture));
  const codes = await Promise.all([codeOf(record()), codeOf(record()), codeOf(record({ ...KEYED, request: 'other' }))]);
  assert.equal(codes, ['store-failed', 'store-failed', 'none']);
});

test.run();
