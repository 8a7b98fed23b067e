import { Compile } from 'typebox/compile';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Account, TIERS } from '../../../../node/accounts/account.ts';
import { AddressLimits, FreeLimits } from '../../../../node/accounts/limits/address-limits.ts';
import { RateLimits } from '../../../../node/accounts/limits/rate-limits.ts';
import { RequestLimits } from '../../../../node/accounts/limits/request-limits.ts';
import { SCOPES } from '../../../../node/accounts/scopes.ts';
import { ApiGate } from '../../../../node/http/gate.ts';
import { Problem } from '../../../../node/http/problem.ts';
import type { Route } from '../../../../node/http/route.ts';
import { usageRoute } from '../../../../node/http/routes/usage.ts';
import { AddressList } from '../../../../node/outbound/address-list.ts';
import { USAGE_EXAMPLE, UsageAnswerShape } from '../../../../protocol/api/usage.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { serveApp } from '../../../fixtures/served-app.ts';
import { UsageFixture } from '../../accounts/limits/usage-fixture.ts';
import { temporaryDirectory } from '../../intake/intake-fixture.ts';

const NOON = Date.UTC(2026, 10, 21, 12);
const compiled = Compile(UsageAnswerShape);
const directory = await temporaryDirectory();
const fixture = await UsageFixture.open(directory.path, { now: () => NOON });
let steady = 0;
const rates = new RateLimits(() => steady);

const documentation = { summary: 'Records', answer: { contentType: 'text/plain', example: '' }, problems: [] };

/** Makes a record, or refuses the request, as the query says. */
function attest(path: string): Route {
  return {
    method: 'POST',
    path,
    access: 'key',
    scope: 'attest:write',
    records: 1,
    documentation,
    async answer({ query }, { account }) {
      if (query.has('bad')) throw new Problem('invalid-field', 'bad');
      await fixture.record(account.id, 1);
      return { body: { success: true } };
    },
  };
}

const free: Route = { method: 'GET', path: '/free', access: 'free', documentation, answer: async () => ({ body: {} }) };
const served = await serveApp(
  new ApiGate({
    cookie: { signedIn: async () => undefined },
    accounts: { authenticate: async (apiKey) => authenticationOf(apiKey) },
    limits: new RequestLimits(rates, fixture.usage),
    addresses: new AddressLimits({ now: () => steady }),
    freeLimits: new FreeLimits(() => steady),
    auditLog: { note: () => {} },
    trustedProxies: new AddressList(['127.0.0.1']),
  }),
  [
    usageRoute({ node: nodeId('eu'), rates, usage: fixture.usage }),
    attest('/v1/attest'),
    attest('/v1/tiered-attest'),
    free,
  ],
);
const { base } = served;

test.after(async () => {
  await served[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

/** A key is `<tier> <account>`. */
function authenticationOf(apiKey: string) {
  const [name, id = ''] = apiKey.split(' ');
  const tier = TIERS.find((candidate) => candidate === name);
  if (tier === undefined) return 'unknown';
  const account: Account = { id, tier };
  return { caller: { account, key: { id: 'key_1', scopes: SCOPES, sources: null } }, addresses: null };
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: JsonObject;
}

async function ask(method: string, path: string, key: string | null, from = '192.0.2.1'): Promise<Answer> {
  const headers = { 'x-forwarded-for': from, ...(key === null ? {} : { 'x-api-key': key }) };
  const response = await fetch(base + path, { method, headers });
  const body: JsonObject = JSON.parse(await response.text());
  return { status: response.status, headers: response.headers, body };
}

async function statuses(count: number, request: () => Promise<Answer>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status, body } of await Promise.all(Array.from({ length: count }, request))) {
    const name = typeof body.code === 'string' ? body.code : String(status);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

async function usage(key: string): Promise<JsonObject> {
  const { status, body } = await ask('GET', '/v1/usage', key);
  assert.is(status, 200, JSON.stringify(body));
  assert.ok(compiled.Check(body), JSON.stringify(compiled.Errors(body)));
  return body;
}

test('the figures of an account: minute, endpoints, day and month', async () => {
  const key = 'developer figures';
  await fixture.record('figures', 118);
  for (let i = 0; i < 3; i++) await ask('POST', '/v1/attest', key);
  await ask('POST', '/v1/tiered-attest?bad', key);
  steady += 46_000;
  assert.equal(await usage(key), {
    success: true,
    tier: 'developer',
    countedBy: 'eu',
    minute: { limit: 60, remaining: 55, resetSeconds: 14 },
    endpoints: [{ endpoint: 'POST /v1/attest', limit: 60, remaining: 57, resetSeconds: 14 }],
    day: { day: '2026-11-21', records: 121, limit: 1000, remaining: 879, resetsAt: '2026-11-22T00:00:00.000Z' },
    month: {
      month: '2026-11',
      records: 121,
      quota: { value: 1000, enforced: false },
      resetsAt: '2026-12-01T00:00:00.000Z',
    },
  });
  assert.ok(compiled.Check(USAGE_EXAMPLE));
});

test('an account without limits sees what it used, and no limit', async () => {
  await fixture.record('bench', 2);
  const { minute, endpoints, day, month } = await usage('unmetered bench');
  assert.equal([minute, endpoints], [null, []]);
  assert.equal(day, {
    day: '2026-11-21',
    records: 2,
    limit: null,
    remaining: null,
    resetsAt: '2026-11-22T00:00:00.000Z',
  });
  assert.equal(month, { month: '2026-11', records: 2, quota: null, resetsAt: '2026-12-01T00:00:00.000Z' });
});

test('requests side by side never pass the minute, the endpoint or the day', async () => {
  steady += 120_000;
  assert.equal(await statuses(90, () => ask('POST', '/v1/tiered-attest', 'developer minute')), {
    200: 60,
    'rate-limited': 30,
  });
  assert.equal(await statuses(90, () => ask('POST', '/v1/attest', 'standard endpoint')), {
    200: 60,
    'endpoint-limit-exceeded': 30,
  });
  await fixture.record('day', 990);
  assert.equal(await statuses(50, () => ask('POST', '/v1/tiered-attest', 'developer day')), {
    200: 10,
    'daily-cap-exceeded': 40,
  });
});

test('every answer carries the limits, refusals too; what was refused uses nothing of the day', async () => {
  steady += 120_000;
  const refused = await ask('POST', '/v1/tiered-attest?bad', 'developer headers');
  assert.is(refused.status, 400);
  assert.is(refused.headers.get('ratelimit-remaining'), '59');
  assert.is(refused.headers.get('x-daily-remaining'), '1000');
  const made = await ask('POST', '/v1/tiered-attest', 'developer headers');
  assert.is(made.headers.get('ratelimit-limit'), '60');
  assert.is(made.headers.get('ratelimit-remaining'), '58');
  assert.is(made.headers.get('ratelimit-reset'), '60');
  assert.is(made.headers.get('x-daily-limit'), '1000');
  assert.is(made.headers.get('x-daily-remaining'), '999');
  const unmetered = await ask('POST', '/v1/attest', 'unmetered headers');
  assert.is(unmetered.headers.get('ratelimit-limit') ?? unmetered.headers.get('x-daily-limit'), null);
});

test('callers without a key are limited by address, and a valid key takes its caller off that limit', async () => {
  steady += 120_000;
  assert.equal(await statuses(150, () => ask('GET', '/free', null)), { 200: 120, 'rate-limited': 30 });
  const refused = await ask('GET', '/free', 'no key at all');
  assert.is(refused.body.code, 'rate-limited');
  assert.is(refused.headers.get('retry-after'), '60');
  assert.is((await ask('GET', '/free', 'developer free')).status, 200);
  assert.is((await ask('GET', '/free', null, '192.0.2.2')).status, 200);
});

test.run();
