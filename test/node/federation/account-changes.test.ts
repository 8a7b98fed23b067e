import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readRecord } from '../../../node/records/record-reader.ts';
import { type NodeId, nodeId, recordId } from '../../../protocol/ids.ts';
import { isJsonObject, type JsonObject } from '../../../protocol/json/value.ts';
import { TestMailSink } from '../../fixtures/mail-sink.ts';
import type { HttpAnswer } from '../../fixtures/node-client.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';

/** Batches are sealed soon, so that one test waits for nothing by itself. In milliseconds. */
const SOON_MS = 300;
/** What was changed at the home is in force elsewhere so soon. In milliseconds. */
const WITHIN_MS = 5_000;
/** A key that ends while the test looks on. In milliseconds. */
const SHORT_MS = 4_000;

const ADA = 'ada@example.org';
const ANYBODY = { key: null };
const OTHER_ADDRESS = '192.0.2.7';

const sink = await TestMailSink.start();
const network = await TestNetwork.start({
  nodes: ['eu', 'us', 'jp'],
  quorum: 1,
  ledger: 'local',
  config: { batchIntervalMs: SOON_MS, mail: sink.config },
});
test.after(async () => {
  await network[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});
const [eu, us, jp] = [network.node('eu'), network.node('us'), network.node('jp')];

async function statusAt(node: TestNode, key: string): Promise<number> {
  return (await node.get('/v1/usage', { key })).status;
}

async function answers(node: TestNode, key: string, status: number): Promise<void> {
  await until(`${node.config.id} to answer ${status}`, async () => (await statusAt(node, key)) === status);
}

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

function nodesIn(body: JsonObject): readonly NodeId[] {
  const { account } = body;
  const nodes = isJsonObject(account) ? account.nodes : undefined;
  return Array.isArray(nodes) ? nodes.map((node) => nodeId(String(node))) : [];
}

async function makeKey(terms: JsonObject, maker: string): Promise<{ readonly apiKey: string; readonly id: string }> {
  const { apiKey, key } = accepted(await eu.post('/v1/keys', terms, { key: maker }));
  return { apiKey: String(apiKey), id: String(isJsonObject(key) ? key.id : '') };
}

/** Names these nodes at the home. */
function name(nodes: readonly string[], key: string): Promise<HttpAnswer> {
  return eu.send('PUT', '/v1/account', JSON.stringify({ nodes }), { key });
}

/** Signs up for two nodes. The key that comes by mail. */
async function signUp(email: string): Promise<string> {
  accepted(await eu.post('/v1/sign-up', { email, nodes: ['eu', 'us'] }, ANYBODY));
  const [apiKey = ''] = /^mk_eu_\S+$/m.exec((await sink.waitForMail(email)).text) ?? [];
  await answers(us, apiKey, 200);
  return apiKey;
}

/** The key that the mail of a sign-up brought. */
let signedUp = '';
/** The key that stands in its place, and its id. */
let [admin, adminId] = ['', ''];

test('whoever signs up names the nodes, and the key that comes by mail works there alone', async () => {
  signedUp = await signUp(ADA);
  assert.equal([await statusAt(eu, signedUp), await statusAt(jp, signedUp)], [200, 401]);
  assert.equal(nodesIn(accepted(await us.get('/v1/account', { key: signedUp }))), ['eu', 'us']);
  const refused = await eu.post('/v1/sign-up', { email: 'bob@example.org', nodes: ['us'] }, ANYBODY);
  assert.equal([refused.status, refused.body.code], [400, 'invalid-field'], 'the home is among them');
});

test('lost keys that are replaced at the home end at every node, and the new one works there', async () => {
  accepted(await eu.post('/v1/lost-key', { email: ADA }, ANYBODY));
  const [, link = ''] = /(\/v1\/lost-key\/[A-Za-z0-9_-]{43})$/m.exec((await sink.waitForMail(ADA)).text) ?? [];
  const { keys } = accepted(await eu.get(link, ANYBODY));
  const ids = Array.isArray(keys) ? keys.map((one) => (isJsonObject(one) ? String(one.id) : '')) : [];
  const { apiKey, key: made } = accepted(await eu.post(link, { revoke: ids }, ANYBODY));
  [admin, adminId] = [String(apiKey), isJsonObject(made) ? String(made.id) : ''];
  await answers(us, admin, 200);
  assert.equal([await statusAt(us, signedUp), await statusAt(eu, signedUp)], [401, 401]);
});

test('a key that its home revokes is refused elsewhere within seconds', async () => {
  const { apiKey, id } = await makeKey({ preset: 'ingest' }, admin);
  await answers(us, apiKey, 200);
  const began = performance.now();
  accepted(await eu.post(`/v1/keys/${id}/revoke`, {}, { key: admin }));
  assert.is(await statusAt(eu, apiKey), 401);
  await answers(us, apiKey, 401);
  const ms = performance.now() - began;
  console.log(`a key that its home revoked was refused at another node after ${(ms / 1000).toFixed(1)} s`);
  assert.ok(ms < WITHIN_MS, `${ms} ms`);
  assert.is(await statusAt(us, admin), 200);
});

test('a node that is named later takes the keys, and one that is left out no more', async () => {
  assert.equal(nodesIn(accepted(await name(['eu', 'us', 'jp'], admin))), ['eu', 'jp', 'us']);
  await answers(jp, admin, 200);
  accepted(await name(['eu', 'us'], admin));
  await answers(jp, admin, 401);
  assert.equal([await statusAt(eu, admin), await statusAt(us, admin)], [200, 200]);
});

test('the terms of a key hold elsewhere as they do at home: its sources, its addresses and its end', async () => {
  const end = Date.now() + SHORT_MS;
  const bound = await makeKey({ preset: 'ingest', sources: ['triage'] }, admin);
  const alike = await makeKey({ preset: 'ingest', sources: ['triage'] }, admin);
  const faraway = await makeKey({ preset: 'ingest', addresses: [OTHER_ADDRESS] }, admin);
  const short = await makeKey({ preset: 'ingest', expiresAt: new Date(end).toISOString() }, admin);
  for (const { apiKey } of [bound, alike, short]) await answers(us, apiKey, 200);
  const attest = (sourceId: string, key: string) => us.post('/v1/attest', { sourceId, data: { n: 1 } }, { key });
  assert.is((await attest('triage', bound.apiKey)).status, 200);
  const outside = await attest('loans', bound.apiKey);
  assert.is(outside.status, 403, outside.text);
  const taken = await Promise.all([eu, us].map((node) => node.get('/v1/usage', { key: faraway.apiKey })));
  assert.equal(
    taken.map(({ status }) => status),
    [403, 403],
  );
  assert.is(taken[1]?.body.code, taken[0]?.body.code);
  const forbidden = await us.post('/v1/keys', { preset: 'ingest' }, { key: bound.apiKey });
  assert.is(forbidden.status, 403, 'a scope that it lacks');
  for (const id of [adminId, alike.id]) {
    const stolen = await us.post(`/v1/keys/${id}/revoke`, {}, { key: bound.apiKey });
    assert.equal(
      [stolen.status, stolen.body.code],
      [403, 'scope-forbidden'],
      'a key that administers none ends itself alone',
    );
  }
  assert.equal([await statusAt(us, admin), await statusAt(us, alike.apiKey)], [200, 200]);
  await answers(us, short.apiKey, 401);
  assert.ok(Date.now() >= end, 'not before its end');
});

test('each node counts for itself: duplicates, keys of idempotency and chains of sources', async () => {
  const body = { sourceId: 'counted', data: { case: 7 } };
  const ask = { key: admin, headers: { 'idempotency-key': 'one and the same' } };
  const home = accepted(await eu.post('/v1/attest', body, ask));
  const elsewhere = accepted(await us.post('/v1/attest', body, ask));
  const [first, second] = [recordId(String(home.attestationId)), recordId(String(elsewhere.attestationId))];
  assert.is.not(first, second);
  for (const [node, id] of [
    [eu, first],
    [us, second],
  ] as const) {
    assert.is(accepted(await node.post('/v1/attest', body, ask)).attestationId, id, 'the same again at each');
    const { sourceSeq, sourcePrev } = (await readRecord(node.context.store, id))?.record ?? {};
    assert.equal([sourceSeq, sourcePrev], [1, null]);
    const twin = await node.post('/v1/attest', body, { key: admin });
    assert.equal([twin.status, twin.body.code], [409, 'duplicate-attestation']);
  }
  const used = await Promise.all([eu, us].map((node) => node.get('/v1/usage', { key: admin })));
  assert.equal(
    used.map(({ body: { countedBy } }) => countedBy),
    ['eu', 'us'],
  );
});

/** Records of this UTC day, as a node has counted them. */
async function countedAt(node: TestNode, key: string): Promise<number> {
  const { day } = accepted(await node.get('/v1/usage', { key }));
  return Number(isJsonObject(day) ? day.records : Number.NaN);
}

test('limits, periods of locks, sessions and lists of records are each node’s own too', async () => {
  const sourceId = 'own-to-each';
  // An account of its own: what the others asked before may have used up their minute.
  const key = await signUp('cleo@example.org');
  const [atHome, elsewhere] = [await countedAt(eu, key), await countedAt(us, key)];
  const { attestationId } = accepted(await eu.post('/v1/attest', { sourceId, data: { case: 8 } }, { key }));
  const { sessionId } = accepted(await eu.post('/v1/session/start', { sourceId }, { key }));
  const lock = { sourceId, retentionPeriodDays: 1825, scope: 'all' };
  const { lockId } = accepted(await eu.post('/v1/retention-lock', lock, { key }));
  assert.equal([await countedAt(eu, key), await countedAt(us, key)], [atHome + 3, elsewhere]);

  const listed = async (node: TestNode, path: string, member: string, id: string) => {
    const rows = accepted(await node.get(`${path}?sourceId=${sourceId}`, { key }))[member];
    return Array.isArray(rows) ? rows.map((row) => (isJsonObject(row) ? row[id] : null)) : null;
  };
  const locks = (node: TestNode) => listed(node, '/v1/retention', 'locks', 'lockId');
  const records = (node: TestNode) => listed(node, '/v1/attestations', 'items', 'attestationId');
  assert.equal([await locks(eu), await locks(us)], [[lockId], []]);
  assert.ok((await records(eu))?.includes(String(attestationId)));
  assert.equal(await records(us), []);
  const ended = await us.post('/v1/session/end', { sourceId, sessionId: String(sessionId) }, { key });
  assert.equal([ended.status, ended.body.code], [404, 'session-not-found']);
  accepted(await eu.post('/v1/session/end', { sourceId, sessionId: String(sessionId) }, { key }));
});

/** Waits for the record that one node answered with to be held by another. */
async function arrival(node: TestNode, { attestationId }: JsonObject): Promise<void> {
  const id = recordId(String(attestationId));
  await until('the record to arrive', async () => (await readRecord(node.context.store, id)) !== undefined);
}

/** What keeps records of a source at a node: its locks with their nodes, and whether all is on hold. */
async function kept(node: TestNode, sourceId: string, key: string) {
  const { locks, effective } = accepted(await node.get(`/v1/retention?sourceId=${sourceId}`, { key }));
  const rows = (value: unknown) => (Array.isArray(value) ? value.filter(isJsonObject) : []);
  return {
    locks: rows(locks).map((lock) => [lock.lockId, lock.node, lock.legalHold]),
    isHeld: rows(effective).some(({ legalHold }) => legalHold === true),
  };
}

test('a legal hold holds at every node of the account once it has arrived, until the node that has it releases it', async () => {
  const sourceId = 'on-hold';
  const key = await signUp('dan@example.org');
  const { attestationId } = accepted(await eu.post('/v1/attest', { sourceId, data: { case: 9 } }, { key }));
  const terms = { sourceId, retentionPeriodDays: 1825, scope: 'decisions', legalHold: true, lockedBy: 'counsel' };
  const hold = accepted(await us.post('/v1/retention-lock', terms, { key }));
  const { lockId } = hold;
  await arrival(eu, hold);
  await until('the hold to be held', async () => (await kept(eu, sourceId, key)).isHeld);
  assert.equal((await kept(eu, sourceId, key)).locks, [[lockId, 'us', 'active']]);

  const erasure = { attestationIds: [String(attestationId)], legalBasis: 'GDPR Art. 17', requestedBy: 'dpo' };
  const refused = await eu.post('/v1/erasures', erasure, { key });
  assert.equal([refused.status, refused.body.code], [409, 'retention-locked'], refused.text);
  assert.equal(refused.body.locks, [{ attestationId, lockId, legalHold: true, expiresAt: null }]);

  const release = { lockId: String(lockId), releasedBy: 'general-counsel' };
  const { apiKey } = accepted(await eu.post('/v1/keys', { preset: 'admin' }, { key }));
  await answers(us, String(apiKey), 200);
  const elsewhere = await eu.post('/v1/retention-lock/release', release, { key: String(apiKey) });
  assert.equal([elsewhere.status, elsewhere.body.code], [404, 'lock-not-found']);
  await arrival(eu, accepted(await us.post('/v1/retention-lock/release', release, { key: String(apiKey) })));
  assert.equal(await kept(eu, sourceId, key), { locks: [], isHeld: false }, 'its period is of its node');
  accepted(await eu.post('/v1/erasures', erasure, { key }));
});

test.run();
