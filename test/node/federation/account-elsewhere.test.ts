import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Draft } from '../../../node/intake/draft.ts';
import type { Tier } from '../../../protocol/accounts/tier.ts';
import { type NodeId, nodeId, recordId } from '../../../protocol/ids.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { parseBundle } from '../../../protocol/verdict/parse.ts';
import { verifyBundle } from '../../../protocol/verdict/verify.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../protocol/json/value.ts';
import type { HttpAnswer } from '../../fixtures/node-client.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';

const [EU, US, SG] = [nodeId('eu'), nodeId('us'), nodeId('sg')];

interface MadeKey {
  readonly account: string;
  readonly apiKey: string;
  readonly keyId: string;
}

/** Batches are sealed soon, so that one test waits for nothing by itself. In milliseconds. */
const SOON_MS = 300;

const network = await TestNetwork.start({
  nodes: ['eu', 'us', 'sg', 'jp', 'ca'],
  quorum: 1,
  ledger: 'local',
  config: { batchIntervalMs: SOON_MS },
});
test.after(() => network[Symbol.asyncDispose]());
const [eu, us, sg, jp] = [network.node('eu'), network.node('us'), network.node('sg'), network.node('jp')];
const five = [eu, us, sg, jp, network.node('ca')];

async function makeKey(home: TestNode, account: string): Promise<MadeKey> {
  const { apiKey, key } = await home.context.accounts.keys.create(account, { preset: 'admin' }, 'operator');
  return { account, apiKey, keyId: key.id };
}

/** An account that lives at a node and names others, with a key that may do everything. */
async function makeAccount(home: TestNode, tier: Tier, nodes: readonly NodeId[]): Promise<MadeKey> {
  const { id } = await home.context.accounts.create({ tier, nodes });
  return makeKey(home, id);
}

function usage(node: TestNode, key: string): Promise<HttpAnswer> {
  return node.get('/v1/usage', { key });
}

/** Waits until a key is answered with this status. */
async function answers(node: TestNode, key: string, status: number): Promise<void> {
  await until(`${node.config.id} to answer ${status}`, async () => (await usage(node, key)).status === status);
}

function problem({ status, body }: HttpAnswer, ...members: readonly string[]): readonly unknown[] {
  return [status, body.code, ...members.map((name) => body[name])];
}

/** The version of the account's statement that a node goes by. */
async function versionAt(node: TestNode): Promise<number> {
  return Number(objectOf((await node.get('/v1/account', { key: shared.apiKey })).body.account).version);
}

async function keyOf(node: TestNode, apiKey: string, id: string): Promise<JsonObject> {
  const { keys } = (await node.get('/v1/keys', { key: apiKey })).body;
  const found = Array.isArray(keys) ? keys.find((key) => isJsonObject(key) && key.id === id) : undefined;
  return objectOf(found);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

const shared = await makeAccount(eu, 'enterprise', [EU, US, SG]);
const second = await makeKey(eu, shared.account);
const third = await makeKey(eu, shared.account);
const alone = await makeAccount(eu, 'enterprise', [EU]);
/** A record of the account, made at its home. */
let madeAtHome = '';

test('a key works at the nodes that its account names, and at no other', async () => {
  for (const node of [us, sg]) for (const { apiKey } of [shared, second, third]) await answers(node, apiKey, 200);
  assert.is((await usage(jp, shared.apiKey)).status, 401);
  for (const node of [us, sg, jp]) assert.is((await usage(node, alone.apiKey)).status, 401);
  const [here, there] = [(await usage(eu, shared.apiKey)).body, (await usage(us, shared.apiKey)).body];
  assert.equal([here.tier, here.countedBy, there.tier, there.countedBy], ['enterprise', 'eu', 'professional', 'us']);
});

test('a node that the account does not name is not given its keys, by its home or by another', async () => {
  const { account } = (await eu.get('/v1/account', { key: shared.apiKey })).body;
  const statement = recordId(String(objectOf(account).statement));
  for (const origin of [EU, US]) assert.is(await jp.context.askStatement(statement, origin), undefined);
  assert.match(await eu.metrics(), /meridian_refused_total\{[^}]*reason="unnamed"[^}]*\} 1/);
  assert.ok((await us.context.askStatement(statement, EU)) !== undefined);
  assert.equal((await us.get(`/v1/verify/${statement}`)).body.payloadState, 'available');
  assert.equal((await jp.get(`/v1/verify/${statement}`)).body.payloadState, 'withheld');
});

test('keys are made and rotated, and the nodes changed, at the home alone', async () => {
  const at = network.member('eu').baseUrl;
  const { account } = (await us.get('/v1/account', { key: shared.apiKey })).body;
  assert.is(objectOf(account).home, 'eu');
  for (const answer of [
    await us.post('/v1/keys', { preset: 'ingest' }, { key: shared.apiKey }),
    await us.post(`/v1/keys/${shared.keyId}/rotate`, {}, { key: shared.apiKey }),
    await us.send('PUT', '/v1/account', JSON.stringify({ nodes: ['eu'] }), { key: shared.apiKey }),
  ]) {
    assert.equal(problem(answer, 'home', 'baseUrl'), [409, 'home-only', 'eu', at]);
  }
  assert.equal((await keyOf(us, shared.apiKey, second.keyId)).status, 'active');
});

test('records of the account are fetched at each of its nodes, their payloads where they were made', async () => {
  madeAtHome = await eu.attest({ input: 1, decision: 'yes' }, {}, { key: shared.apiKey });
  const path = `/v1/bundles/${madeAtHome}`;
  // Each confirms it by its own reading of the ledger.
  for (const node of [us, eu]) {
    await until(
      `the record to be confirmed at ${node.config.id}`,
      async () => (await node.get(path, { key: shared.apiKey })).status === 200,
    );
  }
  const refused = await us.get(`${path}?disclosure=1`, { key: shared.apiKey });
  assert.equal(problem(refused, 'node', 'baseUrl'), [409, 'payload-elsewhere', 'eu', network.member('eu').baseUrl]);
  assert.is((await eu.get(`${path}?disclosure=1`, { key: shared.apiKey })).status, 200);
  assert.is((await us.get(path)).status, 403, 'another account’s');
});

test('a member that the account does not name speaks in its name in vain, at every node and offline', async () => {
  const from = { account: shared.account, sourceId: 'reviews', payload: '{}' };
  const speak = async (draft: Pick<Draft, 'claims' | 'kind' | 'links'>) => {
    const { record } = await jp.context.intake.submit({ ...from, ...draft });
    return record.id;
  };
  const started = await eu.post('/v1/session/start', { sourceId: 'reviews' }, { key: shared.apiKey });
  const session = recordId(String(started.body.attestationId));
  const inSession = { sourceId: 'reviews', sessionId: String(started.body.sessionId) };
  const within = await eu.attest({ input: 3 }, inSession, { key: shared.apiKey });
  const original = recordId(madeAtHome);
  const review = await speak({
    kind: 'human_override',
    claims: { channel: 'direct', reviewer: `hmac-sha256:${'0a'.repeat(32)}`, reviewOutcome: 'confirmed' },
    links: { original },
  });
  const incident = await speak({
    kind: 'incident',
    claims: { channel: 'direct', severity: 'serious' },
    links: { related: [original] },
  });
  const end = await speak({ kind: 'session_end', claims: { channel: 'direct' }, links: { session } });
  const forged = [
    { id: review, kind: 'human_override', node: 'jp' },
    { id: incident, kind: 'incident', node: 'jp' },
  ];
  for (const node of five) {
    const verdict = async (id: string) => (await node.get(`/v1/verify/${id}`)).body;
    await until(`the word of jp at ${node.config.id}`, async () => {
      const said = [await verdict(madeAtHome), await verdict(within)].map(({ links }) => objectOf(links).others);
      return JSON.stringify(said) === JSON.stringify([forged, [{ id: end, kind: 'session_end', node: 'jp' }]]);
    });
    const { complianceStatus, links } = await verdict(madeAtHome);
    const { overrides, incidents } = objectOf(links);
    assert.equal([objectOf(complianceStatus).article14, overrides, incidents], [false, 0, 0]);
    assert.is(objectOf((await verdict(within)).complianceDetail).article12_3a, false);
  }
  for (const [id, said] of [
    [madeAtHome, review],
    [within, end],
  ] as const) {
    const path = `/v1/bundles/${id}?linked=1`;
    await until(`the bundle of ${id} at sg`, async () => (await sg.get(path, { key: shared.apiKey })).status === 200);
    const { body } = await sg.get(path, { key: shared.apiKey });
    const offline = verifyBundle(nobleSuite, parseBundle(body), { pin: eu.context.keys.rosters.genesis });
    const { article14, article12_3a } = {
      ...offline.evidence?.complianceStatus,
      ...offline.evidence?.complianceDetail,
    };
    assert.equal([offline.verified, article14, article12_3a], [true, false, false]);
    const byJp = offline.linked.filter(({ node }) => node === 'jp');
    assert.equal(
      byJp.map((one) => [one.id, one.speaks]),
      [[said, false]],
    );
  }
});

test('with the home dead its keys work, and are refused for good at any node that the account names', async () => {
  await eu.stop();
  const elsewhere = await us.attest({ input: 2 }, {}, { key: shared.apiKey });
  const path = `/v1/bundles/${elsewhere}`;
  await until('the record at sg', async () => (await sg.get(path, { key: shared.apiKey })).status === 200);
  for (const node of [us, sg]) {
    assert.is((await node.get(`/v1/bundles/${madeAtHome}`, { key: shared.apiKey })).status, 200);
  }
  const refusals = () => us.context.intake.recorded;
  const made = refusals();
  const ended = await us.post(`/v1/keys/${second.keyId}/revoke`, {}, { key: shared.apiKey });
  assert.equal([ended.status, objectOf(ended.body.key).status], [200, 'revoked']);
  assert.equal(problem(await usage(us, second.apiKey)), [401, 'api-key-revoked']);
  const again = await us.post(`/v1/keys/${second.keyId}/revoke`, {}, { key: shared.apiKey });
  assert.equal(again.body.key, ended.body.key);
  assert.is(refusals(), made + 1, 'once');
  await answers(sg, second.apiKey, 401);
  assert.equal((await keyOf(sg, shared.apiKey, second.keyId)).status, 'revoked');
  // Any key for itself, though it be the last.
  assert.is((await sg.post(`/v1/keys/${third.keyId}/revoke`, {}, { key: third.apiKey })).status, 200);
  assert.is((await usage(sg, third.apiKey)).status, 401);
  await answers(us, third.apiKey, 401);
  const none = `key_eu_${third.keyId.slice(7).split('').toReversed().join('')}`.replace(/_[89A-Z]/, '_0');
  assert.equal(problem(await us.post(`/v1/keys/${none}/revoke`, {}, { key: shared.apiKey })), [404, 'key-not-found']);
});

test('the home ends the refused keys when it is back, and its next version lists them no more', async () => {
  const before = await versionAt(us);
  await eu.start();
  await until('the keys to end at their home', async () => {
    const states = [second, third].map(async ({ keyId }) => (await keyOf(eu, shared.apiKey, keyId)).status);
    return (await Promise.all(states)).every((status) => status === 'revoked');
  });
  for (const { apiKey } of [second, third]) assert.equal(problem(await usage(eu, apiKey)), [401, 'api-key-revoked']);
  await until('the next version at us', async () => (await versionAt(us)) > before);
  for (const node of [eu, us, sg]) await answers(node, shared.apiKey, 200);
  for (const node of [us, sg]) assert.is((await usage(node, second.apiKey)).status, 401);
});

test('what is held of statements stays in force over a restart', async () => {
  // With the home away a start would wait for it.
  await us.stop();
  await us.start();
  assert.is((await usage(us, shared.apiKey)).status, 200);
  assert.is((await usage(us, second.apiKey)).status, 401);
});

test.run();
