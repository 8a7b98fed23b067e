import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { lostKeyRoutes } from '../../../../node/http/routes/lost-key.ts';
import { LOST_KEY_MESSAGE } from '../../../../protocol/api/lost-key.ts';
import { SIGN_UP_EXAMPLE } from '../../../../protocol/api/sign-up.ts';
import { openGate, serveApp } from '../../../fixtures/served-app.ts';
import { TestMailSink } from '../../../fixtures/mail-sink.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { until } from '../../../fixtures/until.ts';
import { requireProblem } from '../problem-shape.ts';

const sink = await TestMailSink.start();
const network = await TestNetwork.start({ config: { mail: sink.config } });
const node = network.node();
test.after(async () => {
  await network[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

const ADA = 'ada@example.org';
const UNKNOWN_TOKEN = 'A'.repeat(43);
const NO_KEY = { key: null };

async function linkMailed(): Promise<string> {
  const { text } = await sink.waitForMail(ADA);
  const [, link] = /^http:\/\/127\.0\.0\.1:\d+(?:\/verify)?(\/v1\/lost-key\/[A-Za-z0-9_-]{43})$/m.exec(text) ?? [];
  if (link === undefined) throw new Error(`no link in ${text}`);
  return link;
}

test('from lost keys to a new one, and the key of a thief ends with it', async () => {
  await node.post('/v1/sign-up', { email: ADA }, NO_KEY);
  const [lostKey = ''] = /^mk_\S+$/m.exec((await sink.waitForMail(ADA)).text) ?? [];
  assert.is((await node.get('/v1/usage', { key: lostKey })).status, 200);
  await node.post('/v1/sign-up', { email: ADA }, NO_KEY);
  const told = await sink.waitForMail(ADA);
  assert.match(told.text, '/v1/lost-key');
  assert.match(told.text, ADA);
  const asked = await node.post('/v1/lost-key', { email: ADA }, NO_KEY);
  assert.equal([asked.status, Object.keys(asked.body)], [200, Object.keys(SIGN_UP_EXAMPLE.answer)]);
  assert.is(asked.body.message, LOST_KEY_MESSAGE);
  const link = await linkMailed();
  for (const method of ['GET', 'HEAD', 'GET']) {
    const looked = await node.send(method, link, undefined, NO_KEY);
    assert.equal([looked.status, looked.headers.get('cache-control')], [200, 'no-store']);
    assert.is(looked.headers.get('access-control-allow-origin'), null);
    assert.not.match(looked.text, lostKey);
  }
  const { keys } = (await node.get(link, NO_KEY)).body;
  const [old] = Array.isArray(keys) ? keys : [];
  assert.ok(typeof old === 'object' && old !== null && !Array.isArray(old));
  assert.equal(Object.keys(old), ['id', 'name', 'scopes', 'createdAt', 'lastUsedDay', 'status']);
  assert.equal([old.name, old.status], ['sign-up', 'active']);
  requireProblem(await node.post(link, {}, NO_KEY), 'missing-field', 'nothing named', 'revoke');
  for (const revoke of ['all', [7], [old.id, old.id], Array.from({ length: 101 }, (_, i) => `key ${i}`)]) {
    const answer = await node.post(link, { revoke: JSON.parse(JSON.stringify(revoke)) }, NO_KEY);
    requireProblem(answer, 'invalid-field', JSON.stringify(revoke).slice(0, 50));
  }
  requireProblem(await node.post(link, { revoke: ['key_eu_other'] }, NO_KEY), 'key-not-found', 'not its own', 'revoke');
  const given = await node.post(link, { revoke: [String(old.id)] }, NO_KEY);
  assert.equal([given.status, given.headers.get('cache-control')], [200, 'no-store'], given.text);
  const { apiKey, revoked } = given.body;
  assert.equal(Array.isArray(revoked) && revoked.length, 1);
  requireProblem(await node.get('/v1/keys', { key: lostKey }), 'api-key-revoked', 'the old key');
  const log = await node.get('/v1/audit-log', { key: String(apiKey) });
  const newestFirst = [...log.text.matchAll(/"action":"([a-z.-]+)"/g)].map(([, action]) => action);
  assert.equal(newestFirst, [
    'key.created',
    'key.revoked',
    'lost-key.asked',
    'sign-up.asked',
    'key.created',
    'account.created',
  ]);
  requireProblem(await node.get(link, NO_KEY), 'link-invalid', 'spent');
  requireProblem(await node.post(link, { revoke: [] }, NO_KEY), 'link-invalid', 'spent');
});

test('the token is in the mail alone: in no row, and in no log, also where the request ends in a fault', async () => {
  await node.post('/v1/lost-key', { email: ADA }, NO_KEY);
  const link = await linkMailed();
  const token = link.slice(link.lastIndexOf('/') + 1);
  const { lostKeys } = node.context;
  const open = lostKeys.open.bind(lostKeys);
  lostKeys.open = () => Promise.reject(new Error('a fault'));
  requireProblem(await node.get(link, NO_KEY), 'internal', 'a fault');
  lostKeys.open = open;
  for await (const [key, value] of node.context.store.range({})) {
    assert.not.ok(Buffer.from(value).includes(token) || key.includes(token), key);
  }
  const log = node.log.join('');
  assert.match(log, '/v1/lost-key/:token');
  assert.not.match(log, token);
  assert.not.match(log, ADA);
});

test('a link survives a restart of the node, as the end of one does', async () => {
  await node.post('/v1/lost-key', { email: ADA }, NO_KEY);
  const link = await linkMailed();
  await node.stop();
  await node.start();
  assert.is((await node.get(link, NO_KEY)).status, 200);
  assert.is((await node.post(link, { revoke: [] }, NO_KEY)).status, 200);
  await node.stop();
  await node.start();
  requireProblem(await node.get(link, NO_KEY), 'link-invalid', 'after the restart');
});

test('what is no link is answered like one that has ended', async () => {
  for (const token of [UNKNOWN_TOKEN, 'x', `${UNKNOWN_TOKEN}A`, '%00', 'a%2Fb']) {
    requireProblem(await node.get(`/v1/lost-key/${token}`, NO_KEY), 'link-invalid', token);
    requireProblem(await node.post(`/v1/lost-key/${token}`, { revoke: [] }, NO_KEY), 'link-invalid', token);
  }
});

test('an account that the operator made with an address has links too', async () => {
  const { accounts } = node.context;
  const email = 'grace@example.org';
  const { id } = await accounts.create({ tier: 'standard', email });
  await node.post('/v1/sign-up', { email }, NO_KEY);
  assert.match((await sink.waitForMail(email)).subject, 'already', 'signing up is no way to its keys');
  await node.post('/v1/lost-key', { email }, NO_KEY);
  assert.match((await sink.waitForMail(email)).text, id);
});

test('bodies of another form are refused; a caller who goes on and on is told when to come back', async () => {
  const ask = (body: Parameters<typeof node.post>[1]) => node.post('/v1/lost-key', body, NO_KEY);
  requireProblem(await ask({}), 'missing-field', 'nothing', 'email');
  for (const email of ['ada', 'a'.repeat(300), 7]) {
    requireProblem(await ask({ email }), 'invalid-field', String(email), 'email');
  }
  let answer = await ask({ email: 'p0@example.org' });
  for (let i = 1; answer.status === 200 && i < 20; i++) answer = await ask({ email: `p${i}@example.org` });
  requireProblem(answer, 'rate-limited', 'too many');
  requireProblem(
    await node.post('/v1/sign-up', { email: 'q@example.org' }, NO_KEY),
    'rate-limited',
    'sign-ups count with it',
  );
});

test('a node without mail says so, as it does to who signs up', async () => {
  await using other = await TestNetwork.start();
  const answers = await Promise.all(
    ['/v1/lost-key', '/v1/sign-up'].map((path) => other.node().post(path, { email: ADA }, NO_KEY)),
  );
  for (const answer of answers) requireProblem(answer, 'dependency-unavailable', 'no mail');
  assert.is(answers[0]?.body.detail, answers[1]?.body.detail);
});

test('nothing is begun before the answer was sent', async () => {
  const trace: string[] = [];
  const [route] = lostKeyRoutes({
    lostKeys: {
      request: (_email, _from, answered) => {
        trace.push('asked');
        void answered.then(() => trace.push('begun'));
      },
      open: () => Promise.reject(new Error('not asked')),
      replace: () => Promise.reject(new Error('not asked')),
    },
    addressOf: () => '192.0.2.1',
    now: Date.now,
  });
  if (route === undefined) throw new Error('no route');
  const gate = openGate(() => {
    throw new Error('no key is needed');
  });
  await using app = await serveApp(gate, [route], { observe: () => void trace.push('answer is made') });
  const response = await fetch(`${app.base}/v1/lost-key`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: ADA }),
  });
  assert.is(response.status, 200);
  await response.text();
  await until('the work is begun', () => trace.includes('begun'));
  assert.equal(trace, ['asked', 'answer is made', 'begun']);
});

test.run();
