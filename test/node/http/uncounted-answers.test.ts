import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { UncountedLimits } from '../../../node/accounts/limits/address-limits.ts';
import type { Holder } from '../../../node/accounts/limits/holder-counts.ts';
import { createApp, UncountedAnswers } from '../../../node/http/app.ts';
import { noteCounted } from '../../../node/http/asked-work.ts';
import type { Gate } from '../../../node/http/gate.ts';
import type { Route } from '../../../node/http/route.ts';
import { AddressList } from '../../../node/outbound/address-list.ts';
import { until } from '../../fixtures/until.ts';

const PER_SECOND = 3;
const HOME = '192.0.2.1';
const ELSEWHERE = '203.0.113.7';
const documentation = { summary: 'Asks', answer: { contentType: 'text/plain', example: '' }, problems: [] };
const routes: readonly Route[] = [
  { method: 'GET', path: '/v1/health', access: 'free', documentation, answer: async () => ({ body: {} }) },
  { method: 'GET', path: '/counted', access: 'free', documentation, answer: async () => ({ body: {} }) },
];
const gate: Gate = {
  free: (context, route, answer) => {
    if (route.path === '/counted') noteCounted(context.req);
    return answer();
  },
  keyed: () => Promise.reject(new Error('no route has a key')),
};

let uncounted = new UncountedLimits();
let paced: Holder[] = [];
let sent = 0;
const app = createApp({
  gate,
  routes,
  uncounted: new UncountedAnswers({
    uncounted: { take: (subject) => uncounted.take(subject) },
    trustedProxies: new AddressList(['127.0.0.1']),
    onPaced: (holder) => paced.push(holder),
  }),
  baseUrl: () => 'https://eu.example',
  log: pino({ level: 'silent' }),
  observe: () => sent++,
});
const server = createServer(app.callback()).listen(0, '127.0.0.1');
await once(server, 'listening');
const bound = server.address();
const port = typeof bound === 'object' && bound !== null ? bound.port : 0;

test.before.each(() => {
  uncounted = new UncountedLimits({ uncountedPerSecond: PER_SECOND, now: () => 0 });
  paced = [];
  sent = 0;
});

test.after(() => {
  server.closeAllConnections();
  server.close();
});

async function statuses(count: number, path: string, from: string): Promise<number[]> {
  const seen: number[] = [];
  for (let i = 0; i < count; i++) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-forwarded-for': from } });
    await response.body?.cancel();
    seen.push(response.status);
  }
  return seen;
}

test('past so many a second what no limit counts is answered after a wait, and no other address waits', async () => {
  assert.equal(await statuses(PER_SECOND, '/nothing', HOME), [404, 404, 404]);
  assert.equal(paced, []);
  assert.equal(await statuses(1, '/nothing', HOME), [404]);
  assert.equal(await statuses(PER_SECOND, '/nothing', ELSEWHERE), [404, 404, 404]);
  assert.equal(paced, [{ kind: 'address', id: HOME }]);
});

test('what a limit has counted never waits', async () => {
  assert.equal(await statuses(2 * PER_SECOND, '/counted', HOME), Array(2 * PER_SECOND).fill(200));
  assert.equal(await statuses(PER_SECOND, '/nothing', HOME), [404, 404, 404]);
  assert.equal(paced, []);
});

test('who asks after the health waits for nothing else that its address is answered, and past as many a second of its own', async () => {
  assert.equal(await statuses(PER_SECOND, '/nothing', HOME), [404, 404, 404]);
  assert.equal(await statuses(PER_SECOND, '/v1/health', HOME), [200, 200, 200]);
  assert.equal(paced, []);
  assert.equal(await statuses(1, '/v1/health', HOME), [200]);
  assert.equal(paced, [{ kind: 'address', id: HOME }]);
});

test('nobody is waited for who has gone', async () => {
  await statuses(PER_SECOND, '/nothing', HOME);
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.write(`GET /nothing HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${HOME}\r\n\r\n`);
  await until('the wait', () => paced.length === 1);
  socket.destroy();
  await until('its end', () => sent === PER_SECOND + 1);
  assert.ok(timers() <= before);
});

test.run();
