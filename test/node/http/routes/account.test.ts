import { Compile } from 'typebox/compile';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AccountAnswerShape } from '../../../../protocol/api/account.ts';
import type { JsonValue } from '../../../../protocol/json/value.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { accountOf, API_KEYS, type HttpAnswer } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { requireProblem } from '../problem-shape.ts';

const test = suite('/v1/account');

const network = await TestNetwork.start({ nodes: ['eu', 'us', 'sg'], asleep: ['us', 'sg'] });
const node = network.node('eu');
test.after(() => network[Symbol.asyncDispose]());

const isAnswer = Compile(AccountAnswerShape);

function accountIn({ body, text }: HttpAnswer) {
  if (!isAnswer.Check(body)) throw new Error(`another shape: ${text}`);
  return body.account;
}

const put = (body: JsonValue, key: string = API_KEYS.unmetered): Promise<HttpAnswer> =>
  node.send('PUT', '/v1/account', JSON.stringify(body), { key });

async function read(key: string = API_KEYS.unmetered) {
  return accountIn(await node.get('/v1/account', { key }));
}

async function keyOf(terms: Record<string, JsonValue>): Promise<string> {
  const { apiKey } = (await node.post('/v1/keys', terms, { key: API_KEYS.unmetered })).body;
  return String(apiKey);
}

test('an account that says nothing works at its home alone, and has no statement', async () => {
  const expected = { home: 'eu', tier: 'developer', nodes: ['eu'], version: null, statement: null, pending: false };
  assert.equal(await read(API_KEYS.developer), { id: accountOf('developer'), ...expected });
  assert.equal((await read(await keyOf({ preset: 'ingest' }))).nodes, ['eu'], 'any key may ask');
});

test('nodes that are named are stated by a record of the account; the log of its keys tells who named them', async () => {
  const changed = accountIn(await put({ nodes: ['us', 'eu'] }));
  assert.equal(changed.nodes, ['eu', 'us']);
  await until('the version', async () => (await read()).pending === false);
  const { version, statement, nodes } = await read();
  assert.equal([version, nodes], [1, ['eu', 'us']]);
  const verified = (await node.get(`/v1/verify/${statement}`, { key: null })).body;
  assert.equal([verified.found, verified.sigValid], [true, true]);
  assert.equal(accountIn(await put({ nodes: ['eu', 'us'] })).version, 1, 'the same ones change nothing');

  await node.send('PUT', '/v1/account', '{"nodes":["eu","sg"]}', {});
  await until('the next', async () => (await read()).version === 2);
  const log = await node.get('/v1/audit-log', {});
  assert.match(log.text, /"by":"key_eu_[^}]*"action":"nodes\.changed"[^}]*"subject":"eu,sg"/);
  assert.is((await node.get('/v1/usage')).body.success, true);
});

test('what the account cannot name is refused by its field, and changes nothing', async () => {
  const before = await read();
  for (const nodes of [['us'], ['eu', 'jp'], ['eu', 'eu'], ['EU'], [], 'eu', null]) {
    requireProblem(await put({ nodes }), 'invalid-field', JSON.stringify(nodes));
  }
  requireProblem(await put({}), 'missing-field', 'nothing');
  requireProblem(await put({ nodes: ['eu'], tier: 'enterprise' }), 'invalid-field', 'another member');
  assert.match((await put({ nodes: ['eu', 'jp'] })).text, /"field":"\/?nodes"|nodes: names jp/);
  assert.equal(await read(), before);
});

test('a key must administer keys, of every source', async () => {
  requireProblem(await put({ nodes: ['eu', 'us'] }, await keyOf({ preset: 'compliance' })), 'scope-forbidden', 'scope');
  const limited = await keyOf({ preset: 'admin', sources: ['loans'] });
  requireProblem(await put({ nodes: ['eu', 'us'] }, limited), 'scope-forbidden', 'sources');
});

test('an account that lives elsewhere is changed there alone', async () => {
  const key = 'mk_test_elsewhere_000000000000000000';
  await node.context.accounts.grant({ id: 'acc_us_guest', tier: 'standard' }, key);
  assert.equal((await read(key)).home, 'us');
  requireProblem(await put({ nodes: ['eu', 'us'] }, key), 'home-only', 'another home');
});

test('keys whose statement would be too long are refused, and the account may still name its home alone', async () => {
  const sources = Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(256, 'x'));
  const long = { preset: 'ingest', sources };
  for (let i = 0; i < 4; i++) await keyOf(long);
  requireProblem(await node.post('/v1/keys', long, {}), 'too-many-keys', 'one more');
  await put({ nodes: ['eu'] });
  await keyOf(long);
  requireProblem(await put({ nodes: ['eu', 'us'] }), 'too-many-keys', 'to others');
});

test.run();
