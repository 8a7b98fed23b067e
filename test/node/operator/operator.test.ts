import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { OperatorError, operatorRequest } from '../../../node/operator/operator-client.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';

const network = await TestNetwork.start();
const node = network.node();
const socket = join(node.config.home, 'operator.sock');
test.after(() => network[Symbol.asyncDispose]());

const KEY = 'granted-by-the-operator-000000000000';

async function refusalOf(body: JsonObject): Promise<string> {
  const error: unknown = await operatorRequest(socket, 'POST', '/accounts', body).catch((thrown: unknown) => thrown);
  if (!(error instanceof OperatorError)) throw new Error('it was granted');
  return error.message;
}

test('only the owner of the home can reach the socket', async () => {
  assert.is((await stat(socket)).mode & 0o777, 0o600);
});

test('an account granted over the socket is known to the API at once; granting it again changes nothing', async () => {
  assert.is((await node.get('/v1/status/att_eu_01M7Y82XBT6DYXP8Y3D6SYTJ5H', { key: KEY })).status, 401);
  const grant = { id: 'acc_eu_acme', tier: 'standard', apiKey: KEY };
  for (let i = 0; i < 2; i++) {
    const answer: unknown = JSON.parse(await operatorRequest(socket, 'POST', '/accounts', grant));
    assert.equal(answer, { success: true, account: 'acc_eu_acme', tier: 'standard' });
  }
  assert.is((await node.get('/v1/status/att_eu_01M7Y82XBT6DYXP8Y3D6SYTJ5H', { key: KEY })).status, 404);
});

test('a malformed grant is refused, and the key is in no answer and no log', async () => {
  const good = { id: 'acc_eu_other', tier: 'standard', apiKey: `${KEY}-secret` };
  for (const change of [{ tier: 'gold' }, { id: 'A b' }, { apiKey: 'short' }, { apiKey: 7 }, { scope: 'all' }]) {
    const refusal = await refusalOf({ ...good, ...change });
    assert.match(refusal, 'answered 400');
    assert.not.match(refusal, good.apiKey);
  }
  assert.not.match(node.log.join(''), KEY);
});

test('the socket has no API, and the API has no operator', async () => {
  const error: unknown = await operatorRequest(socket, 'GET', '/v1/health').catch((thrown: unknown) => thrown);
  assert.match(String(error), 'answered 404');
  assert.is((await node.post('/accounts', { id: 'x', tier: 'unmetered', apiKey: KEY })).status, 404);
});

test('a socket that a killed node left behind does not stop the next start', async () => {
  await node.stop();
  await assertGone();
  await node.start();
  assert.is((await stat(socket)).mode & 0o777, 0o600);
});

async function assertGone(): Promise<void> {
  const error: unknown = await operatorRequest(socket, 'GET', '/').catch((thrown: unknown) => thrown);
  assert.instance(error, Error);
}

test.run();
