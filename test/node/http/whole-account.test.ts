import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { TestMailSink } from '../../fixtures/mail-sink.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { API_KEYS, type Ask, type HttpAnswer } from '../../fixtures/test-node.ts';
import { requireProblem } from './problem-shape.ts';

const sink = await TestMailSink.start();
const network = await TestNetwork.start({ config: { mail: sink.config } });
const node = network.node();
test.after(async () => {
  await network[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});

const EMAIL = 'owner@example.org';
await node.post('/v1/sign-up', { email: EMAIL });
const [OWN = ''] = /^mk_\S+$/m.exec((await sink.waitForMail(EMAIL)).text) ?? [];
const owner: Ask = { key: OWN };

function accepted({ status, body, text }: HttpAnswer): JsonObject {
  assert.is(status, 200, text);
  return body;
}

const WEBHOOK = { url: 'http://127.0.0.1:9/', events: ['key.expiring'] };
const POLICY = { name: 'all', when: {}, persons: 2 };
const MAILS = { events: ['incident.overdue'], every: 'hour' };
const webhook = String(accepted(await node.post('/v1/webhooks', WEBHOOK, owner)).webhookId);
const policy = String(accepted(await node.post('/v1/oversight-policies', POLICY, owner)).policyId);
accepted(await node.send('PUT', '/v1/mail-alerts', JSON.stringify(MAILS), owner));

const CALLS: readonly (readonly [string, (ask: Ask) => Promise<HttpAnswer>])[] = [
  ['makes no webhook', (ask) => node.post('/v1/webhooks', WEBHOOK, ask)],
  ['gives no webhook another secret', (ask) => node.post(`/v1/webhooks/${webhook}/rotate`, {}, ask)],
  ['ends no webhook', (ask) => node.send('DELETE', `/v1/webhooks/${webhook}`, undefined, ask)],
  [
    'sends no delivery again',
    (ask) => node.post(`/v1/webhooks/${webhook}/deliveries/dlv_eu_01KAJ4T2C7Y0QW5H8ZN6XDR9MB/replay`, {}, ask),
  ],
  ['makes no oversight policy', (ask) => node.post('/v1/oversight-policies', POLICY, ask)],
  ['ends no oversight policy', (ask) => node.send('DELETE', `/v1/oversight-policies/${policy}`, undefined, ask)],
  ['turns no mails on', (ask) => node.send('PUT', '/v1/mail-alerts', JSON.stringify(MAILS), ask)],
  ['turns no mails of the owner off', (ask) => node.send('DELETE', '/v1/mail-alerts', undefined, ask)],
  ['is not given the log', (ask) => node.get('/v1/audit-log', ask)],
  ...['people', 'sign-ins', 'second-factors', 'webhooks', `webhooks/${webhook}/deliveries`].map(
    (list) =>
      [`is not shown the list ${list.replace(webhook, ':id')}`, (ask: Ask) => node.get(`/v1/${list}`, ask)] as const,
  ),
];
const LIMITS: readonly JsonObject[] = [
  { sources: ['one'] },
  { from: '2020-01-01T00:00:00Z' },
  { to: '2020-12-31T00:00:00Z' },
];
const limited: readonly (readonly [string, Ask])[] = await Promise.all(
  LIMITS.map(async (limits) => {
    const { apiKey } = accepted(await node.post('/v1/keys', { preset: 'admin', ...limits }, owner));
    return [String(Object.keys(limits)[0]), { key: String(apiKey) }] as const;
  }),
);

for (const [what, call] of CALLS) {
  test(`a key that is limited to a part of its account ${what}`, async () => {
    for (const [member, ask] of limited) requireProblem(await call(ask), 'scope-forbidden', member);
  });
}

test('a key that is limited to a part of its account is shown itself and the keys that reach no further', async () => {
  const made = async (terms: JsonObject, ask: Ask): Promise<JsonObject> =>
    accepted(await node.post('/v1/keys', terms, ask));
  const idsFor = async (ask: Ask): Promise<unknown[]> => {
    const { keys } = accepted(await node.get('/v1/keys', ask));
    return Array.isArray(keys) ? keys.map((key) => Object(key).id) : [];
  };
  const whole = { key: API_KEYS.enterprise };
  const own = await made({ scopes: ['keys:admin', 'attest:write'], sources: ['two', 'three'] }, whole);
  const ask = { key: String(own.apiKey) };
  const within = await made({ scopes: ['attest:write'], sources: ['three'] }, ask);
  await made({ scopes: ['attest:write'], sources: ['one'] }, whole);
  const ids = [own, within].map(({ key }) => Object(key).id);
  assert.equal(await idsFor(ask), ids);
  assert.is((await idsFor(whole)).length, 4, 'a key of the whole account is shown all');
  for (const id of ids.toReversed()) accepted(await node.post(`/v1/keys/${String(id)}/rotate`, {}, ask));
});

test('a key of the whole account goes on with what others may not touch', async () => {
  for (const list of ['keys', 'people', 'sign-ins', 'second-factors', 'webhooks']) {
    accepted(await node.get(`/v1/${list}`, owner));
  }
  accepted(await node.post(`/v1/webhooks/${webhook}/rotate`, {}, owner));
  accepted(await node.send('DELETE', `/v1/webhooks/${webhook}`, undefined, owner));
  accepted(await node.send('DELETE', `/v1/oversight-policies/${policy}`, undefined, owner));
  accepted(await node.send('DELETE', '/v1/mail-alerts', undefined, owner));
});

test.run();
