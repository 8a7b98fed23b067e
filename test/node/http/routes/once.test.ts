import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IDEMPOTENCY_MS, idempotencyTable } from '../../../../node/intake/idempotency.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { requireProblem } from '../problem-shape.ts';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

function keyed(path: string, body: JsonObject, key: string, apiKey: string = API_KEYS.unmetered): Promise<HttpAnswer> {
  return node.post(path, body, { key: apiKey, headers: { 'idempotency-key': key } });
}

test('a second identical attestation is 409 and names the first', async () => {
  const body = { sourceId: 's', data: { case: 'twin' } };
  const first = await node.post('/v1/attest', body);
  const spelt = await node.post('/v1/attest', ' {"data":{"case":"\\u0074win"},"sourceId":"s"}');
  requireProblem(spelt, 'duplicate-attestation', 'the same in other spelling');
  assert.is(spelt.body.existingAttestationId, first.body.attestationId);
  requireProblem(await node.post('/verify/v1/attest', body), 'duplicate-attestation', 'the other mount');
  for (const other of [
    { ...body, sourceId: 't' },
    { ...body, data: { case: 'twin', n: 1 } },
    { ...body, modelId: 'm' },
    { ...body, extra: 1 },
  ]) {
    assert.is((await node.post('/v1/attest', other)).status, 200);
  }
  assert.is((await node.post('/v1/attest', body, { key: API_KEYS.enterprise })).status, 200, 'another account');
  assert.is((await node.post('/v1/tiered-attest', body)).status, 200, 'the tiered endpoint has no such rule');
});

test('of duplicates at the same moment one is accepted', async () => {
  const body = { sourceId: 's', data: { case: 'race' } };
  const answers = await Promise.all(Array.from({ length: 12 }, () => node.post('/v1/attest', body)));
  const [accepted, ...more] = answers.filter(({ status }) => status === 200);
  assert.is(more.length, 0);
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    assert.is(answer.body.existingAttestationId, accepted?.body.attestationId);
  }
});

test('the same idempotency key and request are answered with the first record again', async () => {
  for (const path of ['/v1/attest', '/v1/tiered-attest']) {
    const body = { sourceId: 's', data: { case: path } };
    const first = await keyed(path, body, `key of ${path}`);
    const again = await keyed(path, body, `key of ${path}`);
    assert.equal([again.status, again.body], [first.status, first.body]);
    const elsewhere = await keyed(`/verify${path}`, body, `key of ${path}`);
    assert.equal([elsewhere.status, elsewhere.body.attestationId], [200, first.body.attestationId]);
  }
});

test('the same idempotency key with another request is 409', async () => {
  const body = { sourceId: 's', data: { case: 'conflict' } };
  assert.is((await keyed('/v1/attest', body, 'k1')).status, 200);
  requireProblem(await keyed('/v1/attest', { ...body, modelId: 'm' }, 'k1'), 'idempotency-conflict', 'another body');
  requireProblem(await keyed('/v1/tiered-attest', body, 'k1'), 'idempotency-conflict', 'another endpoint');
  assert.is((await keyed('/v1/attest', body, 'k1', API_KEYS.enterprise)).status, 200, 'keys belong to an account');
});

test('an empty idempotency key is refused: it would protect nothing', async () => {
  for (const key of ['', ' ']) {
    const answer = await keyed('/v1/tiered-attest', { sourceId: 's', data: { case: 'empty key' } }, key);
    requireProblem(answer, 'invalid-field', JSON.stringify(key), 'Idempotency-Key');
  }
});

test('a refused request does not use its idempotency key up', async () => {
  requireProblem(await keyed('/v1/attest', { sourceId: 's' }, 'k2'), 'missing-field', 'no data');
  assert.is((await keyed('/v1/attest', { sourceId: 's', data: { case: 'k2' } }, 'k2')).status, 200);
});

test('an idempotency key has at most 128 characters', async () => {
  const body = { sourceId: 's', data: { case: 'long key' } };
  requireProblem(await keyed('/v1/attest', body, 'k'.repeat(129)), 'invalid-field', 'too long', 'Idempotency-Key');
  assert.is((await keyed('/v1/attest', body, 'k'.repeat(128))).status, 200);
});

test('requests with one key at the same moment make one record', async () => {
  const body = { sourceId: 's', data: {} };
  const answers = await Promise.all(Array.from({ length: 8 }, () => keyed('/v1/tiered-attest', body, 'k3')));
  assert.is(new Set(answers.map((answer) => answer.body.attestationId)).size, 1);
  assert.ok(answers.every(({ status }) => status === 200));
});

test('a repeat is answered as the first time where the day has no room left, and what is new is refused', async () => {
  const key = API_KEYS.developer;
  const one = { sourceId: 'cap', data: { case: 'the last one' } };
  const batch = Array.from({ length: 999 }, (_, n) => ({ sourceId: 'cap', data: { n } }));
  const sendBatch = () =>
    node.post('/v1/tiered-attest-batch', JSON.stringify(batch), { key, headers: { 'idempotency-key': 'cap batch' } });
  const first = await keyed('/v1/attest', one, 'cap one', key);
  const all = await sendBatch();
  assert.equal([first.status, all.status], [200, 200]);
  assert.equal((await keyed('/v1/attest', one, 'cap one', key)).body, first.body);
  assert.equal((await sendBatch()).body, all.body);
  const more = { sourceId: 'cap', data: { case: 'one more' } };
  requireProblem(await keyed('/v1/attest', more, 'cap two', key), 'daily-cap-exceeded', 'a new key');
  requireProblem(await node.post('/v1/attest', more, { key }), 'daily-cap-exceeded', 'no key');
  requireProblem(await keyed('/v1/attest', more, 'cap one', key), 'idempotency-conflict', 'another request');
});

test('a node that starts removes the keys whose day is over, and goes on answering the others', async () => {
  const body = { sourceId: 's', data: { case: 'kept for a day' } };
  const first = await keyed('/v1/attest', body, 'k4');
  const { store } = node.context;
  const rows = await Array.fromAsync(idempotencyTable.under(store, []));
  const [[, row] = []] = rows;
  assert.ok(row);
  const over = { ...row, at: Date.now() - IDEMPOTENCY_MS };
  await store.write([idempotencyTable.put(['acc_eu_unmetered', 'over'], over)]);
  await node.stop();
  await node.start();
  const isOver = async () => (await idempotencyTable.get(node.context.store, 'acc_eu_unmetered', 'over')) === undefined;
  await until('it is removed', isOver);
  assert.equal((await keyed('/v1/attest', body, 'k4')).body, first.body);
  assert.is((await Array.fromAsync(idempotencyTable.under(node.context.store, []))).length, rows.length);
});

test.run();
