import { once } from 'node:events';
import { createServer } from 'node:http';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AddressLimits, FreeLimits } from '../../../node/accounts/limits/address-limits.ts';
import { LimitError } from '../../../node/accounts/limits/limit-error.ts';
import { SCOPES } from '../../../node/accounts/scopes.ts';
import { createApp } from '../../../node/http/app.ts';
import { ApiGate } from '../../../node/http/gate.ts';
import type { Route } from '../../../node/http/route.ts';
import { AddressList } from '../../../node/outbound/address-list.ts';
import type { AuditFacts } from '../../../protocol/audit/entry.ts';

const HOME = '192.0.2.1';
const ELSEWHERE = '203.0.113.7';
const KEY = 'k'.repeat(32);
const FREE_PER_MINUTE = 3;
const documentation = { summary: 'Asks', answer: { contentType: 'text/plain', example: '' }, problems: [] };
const routes: readonly Route[] = [
  { method: 'GET', path: '/keyed', access: 'key', scope: null, documentation, answer: async () => ({ body: {} }) },
  { method: 'GET', path: '/free', access: 'free', documentation, answer: async () => ({ body: {} }) },
];

let noted: AuditFacts[] = [];
let admitted = 0;
let isOverLimit = false;
let freeLimits = new FreeLimits();
let addresses = new AddressLimits({ requestsPerMinute: FREE_PER_MINUTE });

const app = createApp({
  gate: new ApiGate({
    cookie: { signedIn: async () => undefined },
    accounts: {
      authenticate: async (apiKey) =>
        apiKey === KEY
          ? {
              caller: {
                account: { id: 'acme', tier: 'developer' },
                key: { id: 'key_1', scopes: SCOPES, sources: null },
              },
              addresses: new AddressList([HOME]),
            }
          : 'unknown',
    },
    limits: {
      admit: async () => {
        if (isOverLimit) throw new LimitError('rate-limited', 'too many', {});
        admitted++;
        return { headers: () => ({}), release: () => {}, reserve: async () => {}, [Symbol.dispose]: () => {} };
      },
    },
    addresses: { admit: (address, requests) => addresses.admit(address, requests) },
    freeLimits: { admit: (account, requests) => freeLimits.admit(account, requests) },
    auditLog: { note: (_account, facts) => void noted.push(facts) },
    trustedProxies: new AddressList(['127.0.0.1']),
  }),
  routes,
  baseUrl: () => 'https://eu.example',
  log: pino({ level: 'silent' }),
  observe: () => {},
});
const server = createServer(app.callback()).listen(0, '127.0.0.1');
await once(server, 'listening');
const bound = server.address();
const base = `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}`;

test.before.each(() => {
  noted = [];
  admitted = 0;
  isOverLimit = false;
  addresses = new AddressLimits({ requestsPerMinute: FREE_PER_MINUTE });
  freeLimits = new FreeLimits();
});

test.after(() => {
  server.closeAllConnections();
  server.close();
});

async function statuses(count: number, path: string, from: string, key = KEY): Promise<number[]> {
  const seen: number[] = [];
  for (let i = 0; i < count; i++) {
    const response = await fetch(base + path, { headers: { 'x-forwarded-for': from, 'x-api-key': key } });
    await response.body?.cancel();
    seen.push(response.status);
  }
  return seen;
}

test('a key used from an address that it is not taken from stands in the log of its account', async () => {
  assert.equal(await statuses(1, '/keyed', ELSEWHERE), [403]);
  assert.equal(
    noted.map(({ action, address, by, status }) => ({ action, address, by, status })),
    [{ action: 'GET /keyed', address: ELSEWHERE, by: 'key_1', status: 403 }],
  );
});

test('whoever has such a key takes none of its account’s requests, and fills its log no faster than a stranger may ask', async () => {
  assert.equal(await statuses(FREE_PER_MINUTE + 2, '/keyed', ELSEWHERE), [403, 403, 403, 429, 429]);
  assert.is(admitted, 0);
  assert.is(noted.length, FREE_PER_MINUTE);
  assert.equal(await statuses(1, '/keyed', HOME), [200]);
});

test('a key takes its caller off the limit of free endpoints only from where it is taken', async () => {
  assert.equal(await statuses(FREE_PER_MINUTE + 1, '/free', ELSEWHERE), [200, 200, 200, 429]);
  assert.equal(await statuses(FREE_PER_MINUTE + 1, '/free', HOME), [200, 200, 200, 200]);
});

test('what a key asks of free endpoints is counted for its account, wherever it comes from', async () => {
  for (let asked = 0; asked < 120; asked++) freeLimits.admit({ id: 'acme', tier: 'developer' }, 1);
  assert.equal(await statuses(1, '/free', HOME), [429]);
  assert.equal(await statuses(1, '/keyed', HOME), [200]);
});

test('whoever tries keys that are none is bounded by its address, and nobody else at it is', async () => {
  assert.equal(await statuses(FREE_PER_MINUTE + 1, '/keyed', HOME, 'x'.repeat(32)), [401, 401, 401, 429]);
  assert.equal(await statuses(1, '/keyed', ELSEWHERE, 'x'.repeat(32)), [401]);
  assert.equal(await statuses(1, '/keyed', HOME), [200]);
  assert.is(noted.length, 1);
});

test('a request over the limit is noted', async () => {
  isOverLimit = true;
  assert.equal(await statuses(2, '/keyed', HOME), [429, 429]);
  assert.equal(
    noted.map(({ status }) => status),
    [429, 429],
  );
});

test.run();
