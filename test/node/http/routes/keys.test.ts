import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Compile } from 'typebox/compile';
import {
  CreateKeyAnswerShape,
  ListKeysAnswerShape,
  RevokeKeyAnswerShape,
  RotateKeyAnswerShape,
} from '../../../../protocol/api/keys.ts';
import { newKeyText } from '../../../../node/accounts/key-text.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { requireProblem } from '../problem-shape.ts';

const UNKNOWN = 'key_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9MB';
const STATUS = '/v1/status/att_eu_01M7Y82XBT6DYXP8Y3D6SYTJ5H';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const isCreated = Compile(CreateKeyAnswerShape);
const isListed = Compile(ListKeysAnswerShape);
const isRotated = Compile(RotateKeyAnswerShape);
const isRevoked = Compile(RevokeKeyAnswerShape);

async function created(body: JsonObject, key: string = API_KEYS.unmetered) {
  const answer = await node.post('/v1/keys', body, { key });
  assert.is(answer.status, 200, answer.text);
  assert.is(answer.headers.get('cache-control'), 'no-store');
  if (!isCreated.Check(answer.body)) throw new Error(`another shape: ${answer.text}`);
  return answer.body;
}

async function listed() {
  const { body } = await node.get('/v1/keys', { key: API_KEYS.unmetered });
  if (!isListed.Check(body)) throw new Error(`another shape: ${JSON.stringify(body)}`);
  return body.keys;
}

const attest = (key: string, sourceId = 'test'): Promise<HttpAnswer> =>
  node.post('/v1/tiered-attest', { sourceId, data: { n: 1 } }, { key });

test('a key that was made may do what its preset says, and nothing else', async () => {
  const { apiKey, key } = await created({ preset: 'ingest', name: 'loader' });
  assert.equal([key.status, key.name, key.preset, key.sources], ['active', 'loader', 'ingest', null]);
  assert.is((await attest(apiKey)).status, 200);
  assert.is((await node.get(STATUS, { key: apiKey })).status, 404);
  requireProblem(await node.get('/v1/keys', { key: apiKey }), 'scope-forbidden', 'list');
  requireProblem(await node.post('/v1/keys', { preset: 'ingest' }, { key: apiKey }), 'scope-forbidden', 'create');
  requireProblem(await node.post(`/v1/keys/${key.id}/revoke`, {}, { key: apiKey }), 'scope-forbidden', 'revoke');
  const auditor = await created({ preset: 'auditor' });
  requireProblem(await attest(auditor.apiKey), 'scope-forbidden', 'attest');
});

test('a key limited to sources writes to these alone', async () => {
  const { apiKey } = await created({ preset: 'ingest', sources: ['loans'] });
  assert.is((await attest(apiKey, 'loans')).status, 200);
  requireProblem(await attest(apiKey, 'claims'), 'scope-forbidden', 'other source');
});

test('a key limited to addresses is taken from these alone', async () => {
  const here = await created({ preset: 'ingest', addresses: ['127.0.0.0/8'] });
  const elsewhere = await created({ preset: 'ingest', addresses: ['203.0.113.0/24', '2001:db8::/32'] });
  assert.is((await attest(here.apiKey)).status, 200);
  requireProblem(await attest(elsewhere.apiKey), 'scope-forbidden', 'another address');
  const forged = { key: elsewhere.apiKey, headers: { 'x-forwarded-for': '203.0.113.7' } };
  requireProblem(await node.get(STATUS, forged), 'scope-forbidden', 'a header of the caller');
});

test('rotation: the old key works on until it ends; its overlap may be none', async () => {
  const old = await created({ preset: 'ingest', sources: ['loans'] });
  const { body } = await node.post(`/v1/keys/${old.key.id}/rotate`, { overlapSeconds: 60 });
  if (!isRotated.Check(body)) throw new Error(`another shape: ${JSON.stringify(body)}`);
  assert.equal([body.replaced.id, body.replaced.replacedBy, body.replaced.status], [old.key.id, body.key.id, 'active']);
  assert.equal(body.key.sources, ['loans']);
  for (const apiKey of [old.apiKey, body.apiKey]) assert.is((await attest(apiKey, 'loans')).status, 200);
  requireProblem(await node.post(`/v1/keys/${old.key.id}/rotate`, {}), 'key-ended', 'rotated twice');
  const now = await node.post(`/v1/keys/${body.key.id}/rotate`, { overlapSeconds: 0 });
  assert.is(now.status, 200, now.text);
  const refused = await attest(body.apiKey, 'loans');
  requireProblem(refused, 'api-key-revoked', 'ended');
  assert.match(String(refused.body.detail), 'expired');
});

test('rotation and revocation need no body; a day of overlap is the default', async () => {
  const { key } = await created({ preset: 'ingest' });
  const { body } = await node.send('POST', `/v1/keys/${key.id}/rotate`, undefined);
  if (!isRotated.Check(body)) throw new Error(`another shape: ${JSON.stringify(body)}`);
  const ends = Date.parse(body.replaced.expiresAt ?? '') - Date.parse(body.key.createdAt);
  assert.ok(Math.abs(ends - 86_400_000) < 1000);
  assert.is((await node.send('POST', `/v1/keys/${body.key.id}/revoke`, undefined)).status, 200);
});

test('a revoked key is refused by the very next request, also by those that are on their way', async () => {
  const { apiKey, key } = await created({ preset: 'ingest' });
  assert.is((await attest(apiKey)).status, 200);
  const { status, body } = await node.post(`/v1/keys/${key.id}/revoke`, {});
  const after = await Promise.all(Array.from({ length: 20 }, () => attest(apiKey)));
  assert.is(status, 200);
  if (!isRevoked.Check(body)) throw new Error(`another shape: ${JSON.stringify(body)}`);
  assert.is(body.key.status, 'revoked');
  for (const answer of after) requireProblem(answer, 'api-key-revoked', 'revoked');
  assert.equal((await node.post(`/v1/keys/${key.id}/revoke`, {})).body, body);
});

test('the list has every key of the account and no text of any', async () => {
  const made = await created({ preset: 'ingest' });
  await attest(made.apiKey);
  const keys = await listed();
  assert.equal(new Set(keys.map(({ status }) => status)), new Set(['active', 'expired', 'revoked']));
  assert.ok(keys.some(({ id }) => id === made.key.id));
  const text = JSON.stringify(keys);
  for (const secret of [made.apiKey, API_KEYS.unmetered]) assert.not.match(text, secret);
  const other = await node.get('/v1/keys', { key: API_KEYS.enterprise });
  assert.ok(isListed.Check(other.body) && other.body.keys.length === 1);
});

test('keys of another account are not there', async () => {
  const { key } = await created({ preset: 'ingest' });
  for (const step of ['rotate', 'revoke']) {
    const answer = await node.post(`/v1/keys/${key.id}/${step}`, {}, { key: API_KEYS.enterprise });
    requireProblem(answer, 'key-not-found', step);
    requireProblem(await node.post(`/v1/keys/${UNKNOWN}/${step}`, {}), 'key-not-found', step);
    requireProblem(await node.post(`/v1/keys/acme/${step}`, {}), 'invalid-field', step, 'id');
  }
});

test('an administrator with limits gives no more than it has', async () => {
  const limited = await created({ scopes: ['keys:admin', 'proof:read'], sources: ['loans'] });
  const asks: readonly [JsonObject, string][] = [
    [{ preset: 'admin' }, 'preset'],
    [{ scopes: ['attest:write'] }, 'scopes'],
    [{ scopes: ['proof:read'], sources: null }, 'sources'],
    [{ scopes: ['proof:read'], sources: ['loans', 'claims'] }, 'sources'],
  ];
  for (const [body, field] of asks) {
    const answer = await node.post('/v1/keys', body, { key: limited.apiKey });
    requireProblem(answer, 'scope-forbidden', JSON.stringify(body), field);
  }
  const [mine] = await listed();
  const stolen = await node.post(`/v1/keys/${mine?.id}/rotate`, { overlapSeconds: 0 }, { key: limited.apiKey });
  requireProblem(stolen, 'scope-forbidden', 'rotating the key of a stronger one');
  const given = await created({ scopes: ['proof:read'] }, limited.apiKey);
  assert.equal(given.key.sources, ['loans']);
});

test('the last key that administers an account is not revoked by itself', async () => {
  const { body } = await node.get('/v1/keys', { key: API_KEYS.developer });
  if (!isListed.Check(body)) throw new Error('another shape');
  const answer = await node.post(`/v1/keys/${body.keys[0]?.id}/revoke`, {}, { key: API_KEYS.developer });
  requireProblem(answer, 'last-admin-key', 'the last one');
});

test('bodies of another form are refused by the name of the field', async () => {
  const cases: readonly [JsonObject, string][] = [
    [{ preset: 'owner' }, 'preset'],
    [{ preset: 'ingest', scopes: ['attest:write'] }, 'scopes'],
    [{ scopes: ['everything'] }, 'scopes.0'],
    [{ scopes: [] }, 'scopes'],
    [{ preset: 'ingest', sources: [] }, 'sources'],
    [{ preset: 'ingest', sources: [7] }, 'sources.0'],
    [{ preset: 'ingest', addresses: ['localhost'] }, 'addresses'],
    [{ preset: 'ingest', expiresAt: 'soon' }, 'expiresAt'],
    [{ preset: 'ingest', expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    [{ preset: 'ingest', name: '' }, 'name'],
    [{ preset: 'ingest', apiKey: 'x'.repeat(40) }, 'apiKey'],
    [{ preset: 'ingest', id: UNKNOWN }, 'id'],
  ];
  const before = (await listed()).length;
  requireProblem(await node.post('/v1/keys', { name: 'x' }), 'missing-field', 'no terms', 'preset');
  for (const [body, field] of cases) {
    const answer = await node.post('/v1/keys', body);
    requireProblem(answer, 'invalid-field', JSON.stringify(body), field);
  }
  const { key } = await created({ preset: 'ingest' });
  for (const overlapSeconds of [-1, 2_592_001, 1.5, '60', null]) {
    const answer = await node.post(`/v1/keys/${key.id}/rotate`, { overlapSeconds });
    requireProblem(answer, 'invalid-field', String(overlapSeconds), 'overlapSeconds');
  }
  assert.is((await listed()).length, before + 1);
});

test('a mistyped key is told apart from one that is not known', async () => {
  const { apiKey } = await created({ preset: 'ingest' });
  const typo = apiKey.slice(0, -1) + (apiKey.endsWith('A') ? 'B' : 'A');
  const answers = await Promise.all([attest(typo), attest(`${apiKey}x`)]);
  for (const answer of answers) requireProblem(answer, 'api-key-invalid', 'unknown');
  assert.equal(
    answers.map(({ body }) => String(body.detail).includes('mistyped')),
    [true, false],
  );
});

test('an auditor’s key sees the records of its period alone, and makes none that sees more', async () => {
  const before = String((await attest(API_KEYS.unmetered, 'audited')).body.attestationId);
  const from = new Date(Date.now() + 1).toISOString();
  await new Promise((resolve) => setTimeout(resolve, 5));
  const within = String((await attest(API_KEYS.unmetered, 'audited')).body.attestationId);
  const terms = { preset: 'auditor', sources: ['audited'], from, to: '2099-01-01T00:00:00Z' };
  const { apiKey, key } = await created(terms);
  assert.equal([key.from, key.to], [from, '2099-01-01T00:00:00.000Z']);
  const ask = { key: apiKey };
  const { items } = (await node.get('/v1/attestations', ask)).body;
  assert.equal(Array.isArray(items) ? items.length : items, 1);
  assert.is((await node.get(`/v1/bundles/${within}?partial=1`, ask)).status, 200);
  requireProblem(await node.get(`/v1/bundles/${before}?partial=1`, ask), 'scope-forbidden', 'before its period');
  requireProblem(await node.get('/v1/reports/gap', ask), 'scope-forbidden', 'of all times');
  requireProblem(await attest(apiKey, 'audited'), 'scope-forbidden', 'it writes nothing');
  const reversed = { preset: 'auditor', from: '2099-01-01T00:00:00Z', to: '2098-01-01T00:00:00Z' };
  requireProblem(await node.post('/v1/keys', reversed), 'invalid-field', 'ends before it begins', 'to');
  const admin = await created({ preset: 'admin', from });
  for (const wider of [{ from: null }, { from: '2020-01-01T00:00:00Z' }]) {
    const asked = await node.post('/v1/keys', { preset: 'auditor', ...wider }, { key: admin.apiKey });
    requireProblem(asked, 'scope-forbidden', 'more than its maker sees', 'from');
  }
  assert.is((await created({ preset: 'auditor' }, admin.apiKey)).key.from, from, 'as its maker');
});

test('a key of a period ends no key that sees more, and names no nodes', async () => {
  const wide = await created({ preset: 'ingest' });
  const from = new Date().toISOString();
  const bound = await created({ preset: 'admin', from });
  const ask = { key: bound.apiKey };
  requireProblem(await node.post(`/v1/keys/${wide.key.id}/revoke`, {}, ask), 'scope-forbidden', 'sees more');
  requireProblem(await node.post(`/v1/keys/${wide.key.id}/rotate`, {}, ask), 'scope-forbidden', 'sees more');
  const named = await node.send('PUT', '/v1/account', JSON.stringify({ nodes: ['eu'] }), ask);
  requireProblem(named, 'scope-forbidden', 'the nodes of the account');
  const alike = await created({ preset: 'ingest' }, bound.apiKey);
  assert.is((await node.post(`/v1/keys/${alike.key.id}/revoke`, {}, ask)).status, 200);
});

test('a key that is not known here is told which node made it, where its text says so', async () => {
  const strange = await attest(newKeyText(nodeId('us')));
  requireProblem(strange, 'api-key-invalid', 'of us');
  assert.is(strange.body.home, 'us');
  assert.is((await created({ preset: 'ingest' })).apiKey.slice(0, 6), 'mk_eu_');
  const silent = await attest('k'.repeat(52));
  assert.is(Object.hasOwn(silent.body, 'home'), false);
});

test('what was done to keys is in the log of the account, and no text of a key is in any log or row', async () => {
  const made = await created({ preset: 'ingest' });
  await attest(made.apiKey);
  await node.post(`/v1/keys/${made.key.id}/revoke`, {});
  await node.context.auditLog.flush();
  const { text } = await node.get('/v1/audit-log?limit=100');
  for (const action of ['key.created', 'key.revoked']) {
    assert.match(text, new RegExp(`"action":"${action}"[^}]*"subject":"${made.key.id}"`));
  }
  const secrets = [made.apiKey, API_KEYS.developer];
  for await (const [key, value] of node.context.store.range({})) {
    for (const secret of secrets) assert.not.ok(Buffer.from(value).includes(secret) || key.includes(secret));
  }
  for (const secret of secrets) assert.not.match(node.log.join(''), secret);
});

test.run();
