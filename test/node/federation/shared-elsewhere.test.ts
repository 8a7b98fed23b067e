import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isJsonObject, type JsonObject } from '../../../protocol/json/value.ts';
import type { HttpAnswer } from '../../fixtures/node-client.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { API_KEYS } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';

const network = await TestNetwork.start({
  nodes: ['eu', 'us'],
  quorum: 1,
  ledger: 'local',
  config: { batchIntervalMs: 300 },
});
test.after(() => network[Symbol.asyncDispose]());
const [eu, us] = [network.node('eu'), network.node('us')];
const ANYBODY = { key: null };

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

function pathOf({ apiUrl }: JsonObject): string {
  return new URL(String(apiUrl)).pathname;
}

test('an account shares at every node that it names; payload is given where the record was made alone', async () => {
  const admin = API_KEYS.unmetered;
  accepted(await eu.send('PUT', '/v1/account', JSON.stringify({ nodes: ['eu', 'us'] }), { key: admin }));
  const { apiKey, key } = accepted(await eu.post('/v1/keys', { preset: 'admin' }));
  const ask = { key: String(apiKey) };
  await until('the key works at us', async () => (await us.get('/v1/usage', ask)).status === 200);
  const id = await us.attest({ secret: 'of us' }, {}, ask);
  const wait = async () => (await eu.get(`/v1/status/${id}`, ask)).body.status === 'confirmed';
  await until(
    'the record is confirmed at both',
    async () => (await wait()) && (await us.get(`/v1/status/${id}`, ask)).body.status === 'confirmed',
  );

  const refused = await eu.post(`/v1/bundles/${id}/share`, { disclosure: true }, ask);
  assert.equal([refused.status, refused.body.code, refused.body.node], [409, 'payload-elsewhere', 'us']);
  const [home, elsewhere] = [
    accepted(await eu.post(`/v1/bundles/${id}/share`, {}, ask)),
    accepted(await us.post(`/v1/bundles/${id}/share`, { disclosure: true }, ask)),
  ];
  accepted(await eu.get(pathOf(home), ANYBODY));
  const given = await us.get(`${pathOf(elsewhere)}?disclosure=1`, ANYBODY);
  assert.match(JSON.stringify(accepted(given)), 'of us');
  assert.is((await eu.get(pathOf(elsewhere), ANYBODY)).status, 404, 'a link is of the node that made it');

  const [listed] = Object(accepted(await us.get('/v1/shares', ask)).shares);
  assert.equal([listed.status, listed.attestationId], ['active', id]);
  accepted(await eu.post(`/v1/keys/${isJsonObject(key ?? null) ? Object(key).id : ''}/revoke`, {}));
  assert.is((await eu.get(pathOf(home), ANYBODY)).status, 404);
  await until('the link ends at us', async () => (await us.get(pathOf(elsewhere), ANYBODY)).status === 404);
});

test.run();
