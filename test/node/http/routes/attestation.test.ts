import { parse as parseCsv } from 'csv-parse/sync';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AttestationAnswerShape } from '../../../../protocol/api/attestation.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { API_KEYS } from '../../../fixtures/test-node.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { shapeCheck } from '../answer-shape.ts';
import { requireProblem } from '../problem-shape.ts';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const requireAttestation = shapeCheck(AttestationAnswerShape);
const OTHER = { key: API_KEYS.enterprise };
const DATA = { case: 1, name: 'Ada Lovelace' };
const id = await node.attest(DATA, { sourceId: 'loans', modelId: 'scorer', riskLevel: 'high' });

async function keyWith(terms: JsonObject): Promise<{ readonly key: string }> {
  const { body, status, text } = await node.post('/v1/keys', terms);
  assert.is(status, 200, text);
  return { key: String(body.apiKey) };
}

async function readings(): Promise<readonly JsonObject[]> {
  const { body } = await node.get('/v1/audit-log?limit=500');
  const entries = Array.isArray(body.entries) ? body.entries.filter(isJsonObject) : [];
  return entries.filter(({ action }) => action === 'payload.read');
}

test('a record is shown with what is signed of it, and without its content', async () => {
  const { body, status } = await node.get(`/v1/attestations/${id}`);
  assert.is(status, 200);
  requireAttestation(body);
  assert.equal([body.attestationId, body.sourceSeq, body.payload, body.payloadState], [id, 1, null, 'available']);
  assert.equal(await readings(), []);
});

test('its content is given to who may export, and each reading is a line of the key-use log', async () => {
  const { body } = await node.get(`/v1/attestations/${id}?payload=1`);
  requireAttestation(body);
  const payload = isJsonObject(body.payload ?? null) ? Object(body.payload) : {};
  assert.equal(payload.data, DATA);
  assert.equal(
    (await readings()).map(({ subject }) => subject),
    [id],
  );
  const reader = await keyWith({ scopes: ['proof:read'] });
  requireProblem(await node.get(`/v1/attestations/${id}?payload=1`, reader), 'scope-forbidden', 'scope');
  assert.is((await node.get(`/v1/attestations/${id}`, reader)).status, 200);
  assert.is((await readings()).length, 1);
});

test('a bundle with the content is a reading too, and one without is none', async () => {
  const before = (await readings()).length;
  const path = `/v1/bundles/${id}?partial=1`;
  assert.is((await node.get(path)).status, 200);
  requireProblem(await node.get(`${path}&disclosure=1`, OTHER), 'scope-forbidden', 'account');
  assert.is((await readings()).length, before);
  assert.is((await node.get(`${path}&disclosure=1`)).status, 200);
  const [last, ...rest] = await readings();
  assert.equal([last?.subject, rest.length], [id, before]);
});

test('a record of another account, source or period is not there', async () => {
  requireProblem(await node.get(`/v1/attestations/${id}`, OTHER), 'attestation-not-found', 'account');
  const source = await keyWith({ scopes: ['proof:read'], sources: ['others'] });
  requireProblem(await node.get(`/v1/attestations/${id}`, source), 'attestation-not-found', 'source');
  const period = await keyWith({ scopes: ['proof:read'], from: new Date(Date.now() + 60_000).toISOString() });
  requireProblem(await node.get(`/v1/attestations/${id}`, period), 'attestation-not-found', 'period');
});

test('an erased content is said to be so, and is given to nobody', async () => {
  const gone = await node.attest({ case: 2 }, { sourceId: 'loans' });
  const erasure = { attestationIds: [gone], legalBasis: 'Art. 17(1) GDPR', requestedBy: 'the person' };
  assert.is((await node.post('/v1/erasures', erasure)).status, 200);
  const { body } = await node.get(`/v1/attestations/${gone}?payload=1`);
  requireAttestation(body);
  assert.equal([body.payloadState, body.payload], ['erased', null]);
  assert.not((await readings()).some(({ subject }) => subject === gone));
});

test('records are narrowed by model, level of risk and session', async () => {
  const { sessionId } = (await node.post('/v1/session/start', { sourceId: 'loans' })).body;
  const within = await node.attest({ case: 3 }, { sourceId: 'loans', sessionId: String(sessionId) });
  const ids = async (query: string): Promise<readonly unknown[]> => {
    const { body, status, text } = await node.get(`/v1/attestations?${query}`);
    assert.is(status, 200, text);
    return Array.isArray(body.items) ? body.items.filter(isJsonObject).map((item) => item.attestationId) : [];
  };
  assert.equal(await ids(`sessionId=${String(sessionId)}&kind=decision`), [within]);
  assert.equal(await ids('modelId=scorer'), [id]);
  assert.equal(await ids('modelId=another'), []);
  requireProblem(await node.get(`/v1/attestations?sessionId=${id}`), 'invalid-field', 'no session');
});

test('the export has every record that the list has, as lines or as a table without a formula', async () => {
  await node.attest({ case: 4 }, { sourceId: '=1+1' });
  const listed = (await node.get('/v1/attestations?limit=200')).body.items;
  const ids = Array.isArray(listed) ? listed.filter(isJsonObject).map(({ attestationId }) => attestationId) : [];
  const lines = (await node.get('/v1/attestations/export')).text.trim().split('\n');
  assert.equal(
    lines.map((line) => JSON.parse(line).attestationId),
    ids,
  );
  const csv = await node.get('/v1/attestations/export?format=csv');
  assert.match(csv.headers.get('content-type') ?? '', /^text\/csv/);
  const rows: Record<string, string>[] = parseCsv(csv.text, { columns: true });
  assert.equal(
    rows.map(({ attestationId }) => attestationId),
    ids,
  );
  assert.ok(rows.some(({ sourceId }) => sourceId === "'=1+1"));
  assert.not.match(csv.text, 'Lovelace');
  const few = await node.get('/v1/attestations/export?kind=erasure');
  assert.is(few.text.trim().split('\n').length, 1);
  assert.is((await node.get('/v1/attestations/export', OTHER)).text, '');
  const reader = await keyWith({ scopes: ['proof:read'] });
  requireProblem(await node.get('/v1/attestations/export', reader), 'scope-forbidden', 'scope');
});

test.run();
