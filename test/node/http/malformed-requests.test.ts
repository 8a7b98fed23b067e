import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BodyBudget } from '../../../node/http/body-bytes.ts';
import { readJsonBody } from '../../../node/http/body.ts';
import { Problem } from '../../../node/http/problem.ts';
import { listen, type Listener } from '../../../node/http/server.ts';
import { NO_ADDRESSES } from '../../../node/outbound/address-list.ts';

const HTTP = { host: '127.0.0.1', port: 0, tls: null, trustedProxies: NO_ADDRESSES };
const GET = 'GET /one HTTP/1.1\r\nHost: x\r\n\r\n';
const BAD_CHUNK = 'POST /two HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nnonsense\r\n';

/** Answers with the path, a moment later; `/slow` and a body are waited for. */
const echo: RequestListener = (request, response) => {
  request.on('error', () => {}).resume();
  if (request.method === 'GET') setTimeout(() => response.end(request.url), 20);
  else request.once('end', () => response.end(request.url));
};

/** Sends text on a connection of its own; resolves to all that comes back until the server closes it. */
async function converse({ port }: Listener, ...parts: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let received = '';
  socket.on('data', (text) => (received += String(text))).on('error', () => {});
  const closed = once(socket, 'close');
  for (const part of parts) {
    socket.write(part);
    await delay(10);
  }
  const patience = setTimeout(() => socket.destroy(), 2_000);
  await closed;
  clearTimeout(patience);
  return received;
}

function statuses(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}

async function withServer(handler: RequestListener, use: (server: Listener) => Promise<void>): Promise<void> {
  await using server = await listen(handler, HTTP, () => 'https://eu.example');
  await use(server);
}

test('every malformed request is a problem document, and the connection ends', () =>
  withServer(echo, async (server) => {
    const requests: [string, number][] = [
      ['nonsense\r\n\r\n', 400],
      ['GET /one HTTP/1.1\r\n\r\n', 400],
      ['GET /one HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 400],
      ['GET /one HTTP/9.9\r\nHost: x\r\n\r\n', 400],
      ['GET /one HTTP/2.0\r\nHost: x\r\n\r\n', 400],
      ['GET /one HTTP/0.9\r\nHost: x\r\n\r\n', 400],
      ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}', 400],
      ['POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
      [`GET /one HTTP/1.1\r\nHost: x\r\nbig: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
      ['CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n', 405],
    ];
    for (const [request, status] of requests) {
      const text = await converse(server, request);
      assert.equal(statuses(text), [status], request.slice(0, 60));
      assert.match(text, /content-type: application\/problem\+json/i);
      assert.match(text, /x-content-type-options: nosniff/i);
      assert.match(text, /connection: close/i);
      const { success, status: inBody, requestId } = JSON.parse(text.slice(text.indexOf('\r\n\r\n')));
      assert.is(success, false);
      assert.is(inBody, status);
      assert.match(text, `X-Request-Id: ${requestId}`);
    }
  }));

test('whole requests before the broken one are answered first, in order', () =>
  withServer(echo, async (server) => {
    const text = await converse(server, `${GET}${GET}nonsense\r\n\r\n`);
    assert.equal(statuses(text), [200, 200, 400]);
  }));

test('a body that breaks in its middle is answered once', () =>
  withServer(echo, async (server) => {
    assert.equal(statuses(await converse(server, BAD_CHUNK)), [400]);
    assert.equal(statuses(await converse(server, BAD_CHUNK.slice(0, -15), BAD_CHUNK.slice(-15))), [400]);
  }));

test('nothing is kept of a body that broke', async () => {
  const head = BAD_CHUNK.replace('Host: x', 'Host: x\r\nContent-Type: application/json');
  // Before the body is asked for, as while a key is looked up, and after.
  for (const pause of [0, 50]) {
    const budget = new BodyBudget(1 << 20);
    const outcome = Promise.withResolvers<unknown>();
    const handler: RequestListener = async (request) => {
      await delay(pause);
      readJsonBody(request, { maxBytes: 1_000, budget }).then(outcome.resolve, outcome.resolve);
    };
    await withServer(handler, async (server) => {
      assert.equal(statuses(await converse(server, head.slice(0, -15), head.slice(-15))), [400]);
      const error = await outcome.promise;
      assert.is(error instanceof Problem && error.code, 'request-aborted');
      assert.is(budget.bytes, 0);
    });
  }
});

test('a body that breaks after its request was refused adds nothing to the answer', () => {
  const refuse: RequestListener = (_request, response) => response.writeHead(401).end('no');
  return withServer(refuse, async (server) => {
    assert.equal(statuses(await converse(server, BAD_CHUNK.slice(0, -15), BAD_CHUNK.slice(-15))), [401]);
  });
});

test('HTTP/1.0 needs no host, and an expectation that cannot be met is ignored', () =>
  withServer(echo, async (server) => {
    assert.equal(statuses(await converse(server, 'GET /one HTTP/1.0\r\n\r\n')), [200]);
    const expecting = 'GET /one HTTP/1.1\r\nHost: x\r\nExpect: the-impossible\r\nConnection: close\r\n\r\n';
    assert.equal(statuses(await converse(server, expecting)), [200]);
  }));

test('a connection whose upgrade was not made ends with the answer', () =>
  withServer(echo, async (server) => {
    const upgrade = 'GET /one HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    const text = await converse(server, upgrade, 'nonsense\r\n\r\n');
    assert.equal(statuses(text), [200]);
    assert.match(text, /connection: close/i);
  }));

test('of one connection so many requests are taken at a time, and one with more is cut off', async () => {
  const taken: string[] = [];
  const silent: RequestListener = (request) => void taken.push(request.url ?? '');
  await withServer(silent, async (server) => {
    assert.is(await converse(server, GET.repeat(500)), '');
    assert.is(taken.length, 32);
  });
});

test('requests that follow one another on a connection are never too many', () =>
  withServer(echo, async (server) => {
    const parts = Array.from({ length: 40 }, () => GET);
    const answers = await converse(server, ...parts, 'nonsense\r\n\r\n');
    assert.equal(statuses(answers), [...parts.map(() => 200), 400]);
  }));

test.run();
