import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AddressLimits, FreeLimits } from '../../../node/accounts/limits/address-limits.ts';
import type { Refusal } from '../../../node/accounts/limits/refusals.ts';
import { CLASS_BOUNDS } from '../../../node/accounts/limits/route-weights.ts';
import { SCOPES } from '../../../node/accounts/scopes.ts';
import { readJsonBody } from '../../../node/http/body.ts';
import { ApiGate } from '../../../node/http/gate.ts';
import type { Route } from '../../../node/http/route.ts';
import { WorkBounds } from '../../../node/http/work-bounds.ts';
import { AddressList } from '../../../node/outbound/address-list.ts';
import { serveApp, type ServedApp } from '../../fixtures/served-app.ts';
import { until } from '../../fixtures/until.ts';

const ATTACKER = 'a'.repeat(32);
const HONEST = 'h'.repeat(32);
/** Of records and readings here. */
const BOUNDS = { places: 32, waiting: 0 };
/** What answers of this length are compressed elsewhere. */
const HEALTH = { status: 'ok', node: 'x'.repeat(4_096) };
const BODY = '{"sourceId":"s"}';
const documentation = { summary: 'Asks', answer: { contentType: 'application/json', example: '' }, problems: [] };

let begun = 0;
let waits = Promise.withResolvers<void>();
let streams: PassThrough[] = [];
let refusals: Refusal[] = [];

const routes: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/tiered-attest',
    access: 'key',
    scope: null,
    documentation,
    async answer({ context, counted }) {
      begun++;
      await readJsonBody(context.req, { maxBytes: 1_000 });
      counted();
      // As with `Prefer: wait`: what is waited for then is the ledger.
      if (context.get('prefer') === 'wait') await waits.promise;
      return { body: { success: true } };
    },
  },
  {
    method: 'GET',
    path: '/v1/audit-log/export',
    access: 'key',
    scope: null,
    documentation,
    async answer() {
      const stream = new PassThrough();
      stream.write('a');
      streams.push(stream);
      return { body: stream };
    },
  },
  {
    method: 'GET',
    path: '/v1/health',
    access: 'free',
    limited: false,
    documentation,
    answer: async () => ({ body: HEALTH }),
  },
];

/** A node's face whose callers are accounts of the name of their key, from wherever they come. */
function serve(): Promise<ServedApp> {
  [begun, waits, streams, refusals] = [0, Promise.withResolvers(), [], []];
  const gate = new ApiGate({
    cookie: { signedIn: async () => undefined },
    accounts: {
      authenticate: async (key) => ({
        caller: {
          account: { id: key.slice(0, 1), tier: 'unmetered' },
          key: { id: 'key_1', scopes: SCOPES, sources: null },
        },
        addresses: null,
      }),
    },
    limits: {
      admit: async () => ({
        headers: () => ({}),
        release: () => {},
        reserve: async () => {},
        [Symbol.dispose]: () => {},
      }),
    },
    addresses: new AddressLimits(),
    freeLimits: new FreeLimits(),
    auditLog: { note: () => {} },
    trustedProxies: new AddressList([]),
  });
  const bounds = new WorkBounds({ ...CLASS_BOUNDS, record: BOUNDS, read: BOUNDS });
  return serveApp(gate, routes, { bounds, onRefused: (refusal) => void refusals.push(refusal) });
}

/** Sends the head of a record, and no byte of its body. */
async function slowBody({ base }: ServedApp, key: string): Promise<Socket> {
  const socket = connect(Number(new URL(base).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => {});
  const fields = ['Host: x', `x-api-key: ${key}`, 'Content-Type: application/json', `Content-Length: ${BODY.length}`];
  socket.write(`POST /v1/tiered-attest HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
  return socket;
}

function post({ base }: ServedApp, key: string, headers: Record<string, string> = {}): Promise<Response> {
  const all = { 'content-type': 'application/json', 'x-api-key': key, ...headers };
  return fetch(`${base}/v1/tiered-attest`, { method: 'POST', headers: all, body: BODY });
}

test('who sends bodies that never come takes half of the places, is told so before a byte of one more is read, and others record', async () => {
  await using app = await serve();
  const share = BOUNDS.places / 2;
  const sockets = await Promise.all(Array.from({ length: share }, () => slowBody(app, ATTACKER)));
  await until('the places are held', () => begun === share);
  // The answer to one more comes while not a byte of its body does.
  const late = await slowBody(app, ATTACKER);
  const [told] = await once(late, 'data');
  const [head = '', body = ''] = String(told).split('\r\n\r\n');
  assert.match(head, /^HTTP\/1\.1 503 /);
  assert.match(head, /retry-after: 1/i);
  const problem: unknown = JSON.parse(body);
  if (typeof problem !== 'object' || problem === null) throw new Error('no problem');
  const { code, class: of, holder } = { code: '', class: '', holder: '', ...problem };
  assert.equal([code, of, holder], ['dependency-unavailable', 'record', 'account']);
  assert.is(begun, share, 'nothing was begun for it');
  assert.equal(refusals, [{ class: 'record', holder: { kind: 'account', id: 'a' }, reason: 'share' }]);
  for (let i = 0; i < 20; i++) assert.is((await post(app, HONEST)).status, 200);
  const [first] = sockets;
  first?.write(BODY);
  await until('a place is free again', async () => (await post(app, ATTACKER)).status === 200);
  for (const socket of [...sockets, late]) socket.destroy();
});

test('whoever waits for the ledger holds no place, and who hangs up gives his back', async () => {
  await using app = await serve();
  const share = BOUNDS.places / 2;
  const waiting = Array.from({ length: 20 }, () => post(app, ATTACKER, { prefer: 'wait' }));
  await until('all wait', () => begun === waiting.length);
  const sockets = await Promise.all(Array.from({ length: share }, () => slowBody(app, ATTACKER)));
  await until('the places are held beside them', () => begun === waiting.length + share);
  for (const socket of sockets) socket.destroy();
  await until('they are free', async () => (await post(app, ATTACKER)).status === 200);
  waits.resolve();
  for (const answer of await Promise.all(waiting)) assert.is(answer.status, 200);
});

test('a stream holds its place until it has been sent, or its reader is gone', async () => {
  await using app = await serve();
  const share = BOUNDS.places / 2;
  const ask = (signal?: AbortSignal) =>
    fetch(`${app.base}/v1/audit-log/export`, { headers: { 'x-api-key': ATTACKER }, signal: signal ?? null });
  const gone = new AbortController();
  const reading = await Promise.all(Array.from({ length: share }, (_, i) => ask(i === 0 ? gone.signal : undefined)));
  assert.is((await ask()).status, 503);
  gone.abort();
  await until('the place of the reader that left is free', async () => (await ask()).status === 200);
  assert.is((await ask()).status, 503);
  for (const stream of streams) stream.end();
  for (const [i, answer] of reading.entries()) if (i > 0) assert.is(await answer.text(), 'a');
  const { status } = await ask();
  assert.is(status, 200);
  for (const stream of streams) stream.end();
});

test('the health is told while an account holds all that it may', async () => {
  await using app = await serve();
  const share = BOUNDS.places / 2;
  const sockets = await Promise.all(
    [ATTACKER, HONEST].flatMap((key) => Array.from({ length: share }, () => slowBody(app, key))),
  );
  await until('all places are held', () => begun === 2 * share);
  assert.is((await post(app, 'c'.repeat(32))).status, 503);
  for (let i = 0; i < 200; i++) {
    const answer = await fetch(`${app.base}/v1/health`, {
      headers: { 'accept-encoding': 'br', 'x-api-key': ATTACKER },
    });
    assert.equal([answer.status, answer.headers.get('content-encoding'), await answer.json()], [200, null, HEALTH]);
  }
  for (const socket of sockets) socket.destroy();
});

test.run();
