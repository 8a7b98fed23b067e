import { randomBytes } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Locks } from '../../../../node/governance/locks.ts';
import { subjectTable } from '../../../../node/governance/subjects.ts';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { duplicateTable } from '../../../../node/intake/once-guard.ts';
import { IntakeError } from '../../../../node/intake/intake-error.ts';
import { findKey } from '../../../../node/records/payload/payload-keys.ts';
import { readRecord } from '../../../../node/records/record-reader.ts';
import { ErasureAnswerShape } from '../../../../protocol/api/erasures.ts';
import { purgeDueTable } from '../../../../node/store/due-purges.ts';
import { recordId } from '../../../../protocol/ids.ts';
import { isJsonArray, type JsonObject, type JsonValue } from '../../../../protocol/json/value.ts';
import type { AttestationRecord } from '../../../../protocol/chain/record.ts';
import { putSeed, seedOf as storedSeed } from '../../../fixtures/payload-keys.ts';
import { filesHolding } from '../../../fixtures/store-files.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS, type Ask, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';
import { ENVELOPE, LEAST, NOTHING, objectsOf } from './governance-bodies.ts';

/** How far the node's clock is ahead. In milliseconds. */
let ahead = 0;
const network = await TestNetwork.start({ overrides: { now: () => Date.now() + ahead } });
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const WHY = { legalBasis: 'GDPR Article 17(1)(b)', requestedBy: 'privacy-office' };
const DAY_MS = 86_400_000;
let unique = 0;

function attest(members: JsonObject = {}, ask: Ask = {}): Promise<string> {
  return node.attest({ n: ++unique }, { sourceId: 'triage', ...members }, ask);
}

function erase(members: JsonObject, ask: Ask = {}): Promise<HttpAnswer> {
  return node.post('/v1/erasures', { ...WHY, ...members }, ask);
}

function lock(sourceId: string, members: JsonObject = {}): Promise<HttpAnswer> {
  return node.post('/v1/retention-lock', { ...LEAST['/v1/retention-lock'], sourceId, ...members });
}

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

async function recordOf(id: unknown): Promise<AttestationRecord> {
  const found = await readRecord(node.context.store, recordId(String(id)));
  assert.ok(found);
  return found.record;
}

/** The 33 bytes without which a payload is gone. */
async function seedOf(id: string): Promise<Uint8Array> {
  const seed = await storedSeed(node.context.store, id);
  assert.is(seed?.length, 33);
  return seed ?? new Uint8Array(0);
}

async function payloadState(id: string): Promise<unknown> {
  return (await node.get(`/v1/verify/${id}`)).body.payloadState;
}

async function subjectRows(): Promise<number> {
  const rows = await Array.fromAsync(subjectTable.under(node.context.store, []));
  return rows.length;
}

test('an erasure destroys keys in every file; proof, verification and flags stay', async () => {
  const members = { modelId: 'm', modelVersion: '1', riskLevel: 'low' };
  const erased = [await attest(members), await attest()];
  const kept = await attest();
  await node.seal();
  const seeds = await Promise.all(erased.map(seedOf));
  const keptSeed = await seedOf(kept);
  const { directory } = node.context.store;
  for (const seed of [...seeds, keptSeed]) assert.ok((await filesHolding(directory, seed)).length > 0);
  const before = await node.get(`/v1/verify/${erased[0]}`);

  const body = accepted(await erase({ attestationIds: [...erased, ...erased.slice(0, 1)] }));
  shapeCheck(ErasureAnswerShape)(body);
  const answer = ['erasureId', 'erasures', 'erasedCount', 'alreadyErased', 'complete'];
  assert.equal(Object.keys(body).toSorted(), [...ENVELOPE, ...answer].toSorted());
  assert.equal([body.erasedCount, body.alreadyErased, body.complete], [2, [], true]);
  assert.equal(body.erasures, [{ erasureId: body.erasureId, attestationId: body.attestationId, erasedCount: 2 }]);
  assert.equal((await recordOf(body.attestationId)).links.erased, erased);
  // Compression writes the end of a seed before zeros as a repetition, where its last bytes happen to be one.
  for (const seed of seeds) assert.equal(await filesHolding(directory, seed.subarray(0, -3)), []);
  assert.ok((await filesHolding(directory, keptSeed.subarray(0, -3))).length > 0);

  const { body: verdict } = await node.get(`/v1/verify/${erased[0]}`);
  assert.equal([verdict.payloadState, verdict.sigValid], ['erased', true]);
  assert.equal(verdict.complianceStatus, before.body.complianceStatus);
  assert.equal(await Promise.all([kept, ...erased].map(payloadState)), ['available', 'erased', 'erased']);
  const bundle = await node.get(`/v1/bundles/${erased[0]}?disclosure=1&partial=1`);
  assert.not.ok('disclosure' in bundle.body);
});

test('an erasure takes along what would let a payload be found or guessed', async () => {
  const body = { sourceId: 'guess', data: { passport: 'C01X00T47' }, subjectRef: 'person 7' };
  const id = String(accepted(await node.post('/v1/attest', body)).attestationId);
  const rows = async () => {
    const duplicates = await Array.fromAsync(duplicateTable.under(node.context.store, []));
    return [await subjectRows(), duplicates.filter(([, duplicate]) => duplicate === id).length];
  };
  assert.equal(await rows(), [1, 1]);
  assert.is((await node.post('/v1/attest', body)).status, 409);
  accepted(await erase({ attestationIds: [id] }));
  assert.equal(await rows(), [0, 0]);
  const again = accepted(await node.post('/v1/attest', body));
  accepted(await erase({ attestationIds: [String(again.attestationId)] }));
});

test('a payload of the greatest depth is erased like any other', async () => {
  let deep: JsonValue = 1;
  for (let depth = 0; depth < 31; depth++) deep = [deep];
  const id = await attest({ subjectRef: 'deep', surprise: deep });
  accepted(await erase({ subjectRef: 'deep' }));
  assert.is(await payloadState(id), 'erased');
});

test('all records of a person are erased, of every source, and no other’s', async () => {
  const subjectRef = 'Anna Schmidt, 1980-02-29';
  const mine = [await attest({ subjectRef }), await attest({ subjectRef, sourceId: 'credit' })];
  const tiered = { sourceId: 'triage', data: { n: 1 }, subjectRef };
  mine.push(String(accepted(await node.post('/v1/tiered-attest', tiered)).attestationId));
  const others = [
    await attest({ subjectRef: 'Anna Schmidt' }),
    await attest(),
    await attest({ subjectRef }, { key: API_KEYS.enterprise }),
  ];
  for await (const [key, value] of node.context.store.range({})) {
    assert.not.match(key + Buffer.from(value).toString('latin1'), /Schmidt/);
  }
  const body = accepted(await erase({ subjectRef }));
  assert.equal([body.erasedCount, body.complete], [3, true]);
  assert.equal((await recordOf(body.attestationId)).links.erased?.toSorted(), mine.toSorted());
  assert.equal(await Promise.all(mine.map(payloadState)), ['erased', 'erased', 'erased']);
  assert.equal(await Promise.all(others.map(payloadState)), ['available', 'available', 'available']);
  const again = accepted(await erase({ subjectRef }));
  assert.equal([again.erasedCount, again.alreadyErased], [0, []]);
  assert.is((await recordOf(again.attestationId)).links.erased, undefined);

  const { text } = await node.get(`/v1/bundles/${String(body.attestationId)}?disclosure=1&partial=1`);
  assert.match(text, /"subjectRef":"hmac-sha256:[0-9a-f]{64}"/);
  assert.not.match(text, /Schmidt/);
});

test('a person of many records is erased in several records of erasure', async () => {
  const subjectRef = 'many';
  const post = () => node.post('/v1/tiered-attest', { sourceId: 'many', data: {}, subjectRef });
  const ids = (await Promise.all(Array.from({ length: 205 }, post))).map((answer) => accepted(answer).attestationId);
  const request = { headers: { 'idempotency-key': 'many' } };
  const body = accepted(await erase({ subjectRef }, request));
  const erasures = objectsOf(body, 'erasures');
  assert.equal([body.erasedCount, erasures.map(({ erasedCount }) => erasedCount)], [205, [100, 100, 5]]);
  assert.is(erasures.at(-1)?.erasureId, body.erasureId);
  const records = await Promise.all(erasures.map(({ attestationId }) => recordOf(attestationId)));
  assert.equal(records.flatMap(({ links }) => links.erased ?? []).toSorted(), ids.toSorted());
  assert.equal(accepted(await erase({ subjectRef }, request)), body);
});

test('what is erased already is said to be', async () => {
  const [first, second] = [await attest(), await attest()];
  const answers = await Promise.all([
    erase({ attestationIds: [first] }),
    erase({ attestationIds: [first, second] }),
    erase({ attestationIds: [second, first] }),
  ]);
  const bodies = answers.map(accepted);
  assert.is(
    bodies.reduce((sum, { erasedCount }) => sum + Number(erasedCount), 0),
    2,
  );
  const gone = bodies.flatMap(({ alreadyErased }) => (isJsonArray(alreadyErased ?? null) ? alreadyErased : []));
  assert.equal([gone].flat().toSorted(), [first, second, first].toSorted());
});

test('what is not there, or not said clearly, is refused, and nothing is erased', async () => {
  const id = await attest();
  const foreign = await attest({}, { key: API_KEYS.enterprise });
  const elsewhere = id.replace('_eu_', '_us_');
  const answer = await erase({ attestationIds: [id, NOTHING, foreign, elsewhere, 'x'] });
  requireProblem(answer, 'attestation-not-found', 'ids of nothing', 'attestationIds');
  assert.equal(answer.body.missing, [NOTHING, foreign, elsewhere, 'x']);
  requireProblem(await erase({}), 'missing-field', 'neither', 'attestationIds');
  requireProblem(await erase({ attestationIds: [id], subjectRef: 'a' }), 'invalid-field', 'both', 'subjectRef');
  requireProblem(await erase({ attestationIds: [] }), 'invalid-field', 'none', 'attestationIds');
  const many = Array.from({ length: 101 }, () => id);
  requireProblem(await erase({ attestationIds: many }), 'invalid-field', '101', 'attestationIds');
  const named = { attestationIds: [id] };
  requireProblem(await node.post('/v1/erasures', named), 'missing-field', 'no reason', 'legalBasis');
  const keyOf = async (terms: JsonObject) => ({ key: String(accepted(await node.post('/v1/keys', terms)).apiKey) });
  const ingest = await keyOf({ name: 'ingest', preset: 'ingest' });
  requireProblem(await erase(named, ingest), 'scope-forbidden', 'no scope');
  const bound = await keyOf({ name: 'bound', preset: 'compliance', sources: ['credit'] });
  requireProblem(await erase(named, bound), 'scope-forbidden', 'another source', 'sourceId');
  assert.is(await payloadState(id), 'available');
});

test('a lock keeps all of a request from being erased, and is named with what it covers', async () => {
  const [held, locked, free] = [
    await attest({ sourceId: 'held' }),
    await attest({ sourceId: 'locked' }),
    await attest(),
  ];
  const hold = accepted(await lock('held', { scope: 'decisions', legalHold: true, lockedBy: 'Anna' }));
  const period = accepted(await lock('locked'));
  const answer = await erase({ attestationIds: [free, held, locked] });
  requireProblem(answer, 'retention-locked', 'locked', 'attestationIds');
  assert.equal(answer.body.locks, [
    { attestationId: held, lockId: hold.lockId, legalHold: true, expiresAt: null },
    { attestationId: locked, lockId: period.lockId, legalHold: false, expiresAt: period.expiresAt },
  ]);
  assert.is(answer.body.truncated, false);
  assert.equal(await Promise.all([free, held, locked].map(payloadState)), ['available', 'available', 'available']);
  const later = await attest({ sourceId: 'locked', subjectRef: 'locked person' });
  const [named] = objectsOf((await erase({ subjectRef: 'locked person' })).body, 'locks');
  const { submittedAt } = await recordOf(later);
  assert.is(Date.parse(String(named?.expiresAt)) - Date.parse(submittedAt), 1825 * DAY_MS, 'counted from the record');

  const incident = { ...LEAST['/v1/incident'], sourceId: 'held' };
  const { attestationId } = accepted(await node.post('/v1/incident', incident));
  accepted(await erase({ attestationIds: [String(attestationId), free] }));
});

for (const isErasureFirst of [true, false]) {
  const first = isErasureFirst ? 'the erasure' : 'the lock';
  test(`a lock and an erasure that come at once do not both have their way: ${first} comes first`, async () => {
    const sourceId = `race-${isErasureFirst}`;
    const id = await attest({ sourceId });
    const { locks } = node.context.governance;
    let asked = 0;
    const counting: Locks['alone'] = (sources, work) => {
      asked++;
      Reflect.deleteProperty(locks, 'alone');
      const result = locks.alone(sources, work);
      locks.alone = counting;
      return result;
    };
    locks.alone = counting;
    // Both wait for this, in the order in which they came.
    const go = Promise.withResolvers<void>();
    const held = locks.alone([await recordOf(id)], () => go.promise);
    const posts = [() => erase({ attestationIds: [id] }), () => lock(sourceId)];
    const answers: Promise<HttpAnswer>[] = [];
    for (const post of isErasureFirst ? posts : posts.toReversed()) {
      answers.push(post());
      await until('it to wait', () => asked === 1 + answers.length);
    }
    go.resolve();
    await held;
    const [erasure, locking] = isErasureFirst ? await Promise.all(answers) : (await Promise.all(answers)).toReversed();
    Reflect.deleteProperty(locks, 'alone');
    assert.ok(erasure && locking);
    const { attestationId: lockId } = accepted(locking);
    if (isErasureFirst) {
      const [erased, locked] = [await recordOf(accepted(erasure).attestationId), await recordOf(lockId)];
      assert.ok(erased.seq < locked.seq, 'the lock came after');
      assert.is(await payloadState(id), 'erased');
    } else {
      assert.equal([erasure.status, erasure.body.code], [409, 'retention-locked']);
      assert.is(await payloadState(id), 'available');
    }
  });
}

test('a look at what is due that has begun before an erasure does not stand for one after it', async () => {
  const { store, purges, governance } = node.context;
  const secret = randomBytes(32);
  await store.write([{ type: 'put', key: 'erased/late', value: secret }]);
  const go = Promise.withResolvers<void>();
  let isRead = false;
  const range = store.range.bind(store);
  store.range = async function* (options) {
    const rows = await Array.fromAsync(range(options));
    if (options.gte === `${purgeDueTable.name}/`) {
      isRead = true;
      await go.promise;
    }
    yield* rows;
  };
  const early = purges.look();
  await until('it has read what is due', () => isRead);
  await store.write(purges.end(['erased/late']));
  assert.ok((await filesHolding(store.directory, secret)).length > 0);
  const purging = governance.erasures.purge();
  go.resolve();
  await Promise.all([early, purging]);
  assert.equal(await filesHolding(store.directory, secret), []);
  store.range = range;
});

test('keys that an erasure destroyed which failed half-way leave the files all the same', async () => {
  const subjectRef = 'half';
  const post = () => node.post('/v1/tiered-attest', { sourceId: 'half', data: {}, subjectRef });
  const made = await Promise.all(Array.from({ length: 101 }, post));
  const ids = made.map((answer) => String(accepted(answer).attestationId));
  const seeds = new Map(await Promise.all(ids.map(async (id) => [id, await seedOf(id)] as const)));
  const { intake, store } = node.context;
  const submit = intake.submit.bind(intake);
  let erasures = 0;
  intake.submit = (draft) => {
    if (draft.kind !== 'erasure' || ++erasures === 1) return submit(draft);
    return Promise.reject(new IntakeError('queue-full', 'the queue is full'));
  };
  try {
    assert.is((await erase({ subjectRef })).status, 503);
  } finally {
    Reflect.deleteProperty(intake, 'submit');
  }
  const states = await Promise.all(ids.map(async (id) => [id, await payloadState(id)] as const));
  const erased = states.flatMap(([id, state]) => (state === 'erased' ? [seeds.get(id) ?? Buffer.of()] : []));
  assert.is(erased.length, 100);
  const held = (seed: Uint8Array) => filesHolding(store.directory, seed.subarray(0, -3));
  const some = erased.slice(0, 3);
  await until('the files to be rid of the keys', async () => (await Promise.all(some.map(held))).flat().length === 0);
  assert.is(accepted(await erase({ subjectRef })).erasedCount, 1);
});

test('keys that were erased before the node was killed are out of its files after the next start', async () => {
  const id = recordId(await attest());
  const seed = await seedOf(id);
  const { store, intake, governance } = node.context;
  const removals = await governance.erasures.removals([await recordOf(id)]);
  await intake.submit({
    kind: 'erasure',
    account: 'acc_eu_unmetered',
    sourceId: 'erasures',
    payload: '{}',
    claims: { channel: 'direct' },
    links: { erased: [id] },
    besides: () => removals,
  });
  assert.ok((await filesHolding(store.directory, seed)).length > 0, 'deleted, and not yet purged');
  await node.stop();
  await node.start();
  await until('the files are rid of the key', async () => (await filesHolding(store.directory, seed)).length === 0);
  assert.is(await payloadState(id), 'erased');
});

test('erasures of records that were made together, asked for together, destroy their keys and no other', async () => {
  const ids = await Promise.all(Array.from({ length: 12 }, (_, i) => attest({ sourceId: `together-${i}` })));
  const records = await Promise.all(ids.map(recordOf));
  const rows = new Set(
    await Promise.all(records.map(async (record) => (await findKey(node.context.store, record))?.row)),
  );
  assert.ok(rows.size < ids.length, 'some share a row');
  const seeds = await Promise.all(ids.map(seedOf));
  const answers = await Promise.all(ids.slice(2).map((id) => erase({ attestationIds: [id] })));
  for (const answer of answers) assert.is(accepted(answer).erasedCount, 1);
  const states = await Promise.all(ids.map(payloadState));
  assert.equal(states, [...Array<string>(2).fill('available'), ...Array<string>(10).fill('erased')]);
  const { directory } = node.context.store;
  for (const seed of seeds.slice(2)) assert.equal(await filesHolding(directory, seed), []);
});

test('an erasure holds for a store that was restored from a copy, too', async () => {
  const id = recordId(await attest({ subjectRef: 'restored' }));
  const seed = await seedOf(id);
  const { store, governance } = node.context;
  const byContent = [subjectTable, duplicateTable];
  const found = async (): Promise<number> => {
    const all = await Promise.all(byContent.map((table) => Array.fromAsync(table.under(store, []))));
    return all.flat().length;
  };
  const rows = await Promise.all(
    byContent.map(({ name }) => Array.fromAsync(store.range({ gte: `${name}/`, lt: `${name}0` }))),
  );
  const { attestationId } = accepted(await erase({ attestationIds: [id] }));
  const left = await found();
  await putSeed(store, id, seed);
  await store.write(rows.flat().map(([key, value]) => ({ type: 'put', key, value })));
  assert.ok((await found()) > left, 'the copy has the rows by which it is found');
  assert.is(await payloadState(id), 'available');
  await store.write(await governance.again.rowsOf([await recordOf(attestationId)]));
  assert.is(await payloadState(id), 'erased');
  assert.is(await found(), left);
  assert.ok((await filesHolding(store.directory, seed)).length > 0);
  governance.again.onWritten();
  await until('the purge', async () => (await filesHolding(store.directory, seed)).length === 0);
});

test('an erasure leaves the row that refuses a duplicate of a later record of the same text', async () => {
  const [id, later] = [await attest({}), await attest({})];
  const { store } = node.context;
  const rows = await Array.fromAsync(duplicateTable.under(store, []));
  const [parts] = rows.find(([, of]) => of === id) ?? [];
  if (parts === undefined) throw new Error('no row');
  await store.write([duplicateTable.put(parts, later)]);
  accepted(await erase({ attestationIds: [id] }));
  assert.is(await duplicateTable.get(store, ...parts), later);
  await store.write([duplicateTable.del(...parts)]);
});

test('of an erased decision no word stands in a row or file, also where its request may come again and is answered alike', async () => {
  const { store } = node.context;
  const word = 'Zzyzx-Wolfhardine';
  const decision = { sourceId: 'triage', data: { [word]: 1 }, [`${word} member`]: true };
  const bodies: readonly (readonly [path: string, body: JsonObject | JsonObject[]])[] = [
    ['/v1/attest', decision],
    ['/v1/tiered-attest', decision],
    ['/v1/tiered-attest-batch', [decision, { [word]: 1 }, { ...decision, sessionId: word }]],
  ];
  for (const [path, body] of bodies) {
    const ask = { headers: { 'idempotency-key': path } };
    const first = await node.post(path, body, ask);
    const { warnings, attestationId = objectsOf(first.body, 'results')[0]?.attestationId } = accepted(first);
    assert.match(String(warnings), `${word} member: not a documented field`);
    accepted(await erase({ attestationIds: [String(attestationId)] }));
    const rows = await Array.fromAsync(store.range({}));
    const telling = rows.filter(([, value]) => Buffer.from(value).includes(word)).map(([key]) => key);
    assert.equal([telling, await filesHolding(store.directory, Buffer.from(word))], [[], []], path);
    assert.is((await node.post(path, body, ask)).text, first.text);
  }
});

test('a record can be erased once its locks have run out', async () => {
  const sourceId = 'expiring';
  accepted(await lock(sourceId));
  const id = await attest({ sourceId });
  ahead = 1825 * DAY_MS - 60_000;
  assert.is((await erase({ attestationIds: [id] })).status, 409);
  ahead = 1825 * DAY_MS + 60_000;
  const young = await attest({ sourceId });
  assert.is((await erase({ attestationIds: [young, id] })).status, 409, 'the lock holds for a younger record');
  accepted(await erase({ attestationIds: [id] }));
});

test('the store is whole', async () => {
  await node.stop();
  const { report } = await fsck(node.config.home);
  assert.equal(report.findings, []);
  assert.ok(report.counts.payloadsErased > 200);
});

test.run();
