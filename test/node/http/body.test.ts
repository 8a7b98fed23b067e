import { once } from 'node:events';
import { Agent, createServer, IncomingMessage, request as httpRequest, type Server } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { BodyBudget } from '../../../node/http/body-bytes.ts';
import { type BodyLimits, readJsonBody } from '../../../node/http/body.ts';
import { toProblem } from '../../../node/http/problem.ts';
import { TurnCount } from '../../fixtures/turn-count.ts';
import { until } from '../../fixtures/until.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

/** A server that answers a body with its text, or with the code of the problem. */
class Echo implements AsyncDisposable {
  /** Requests whose bodies were asked for. */
  asked = 0;
  readonly outcomes: string[] = [];
  readonly #server: Server;

  private constructor(limits: BodyLimits) {
    this.#server = createServer((request, response) => {
      this.asked++;
      readJsonBody(request, limits).then(
        ({ text }) => {
          this.outcomes.push('ok');
          response.end(text);
        },
        (error: unknown) => {
          const { status, code, detail, headers } = toProblem(error);
          this.outcomes.push(code === 'internal' ? String(error) : code);
          response.writeHead(status, headers).end(`${code}: ${detail}`);
        },
      );
    });
  }

  static async start(limits: BodyLimits): Promise<Echo> {
    const echo = new Echo(limits);
    echo.#server.listen(0, '127.0.0.1');
    await once(echo.#server, 'listening');
    return echo;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async post(body: string | Uint8Array, headers: Record<string, string> = JSON_TYPE): Promise<[number, string]> {
    const url = `http://127.0.0.1:${this.port}/`;
    const response = await fetch(url, { method: 'POST', body: new Blob([Buffer.from(body)]), headers });
    return [response.status, await response.text()];
  }

  async connect(...parts: string[]): Promise<Peer> {
    const socket = connect(this.port, '127.0.0.1');
    await once(socket, 'connect');
    const peer = new Peer(socket);
    for (const part of parts) {
      socket.write(part);
      await delay(5);
    }
    return peer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** A raw connection that remembers what it was sent. */
class Peer {
  readonly socket: Socket;
  received = '';
  readonly closed: Promise<unknown>;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => (this.received += chunk.toString()));
    socket.on('error', () => {});
    this.closed = once(socket, 'close');
  }

  async awaitText(text: string): Promise<void> {
    await until(text, () => this.received.includes(text));
  }
}

const head = (length: number | string, extra = ''): string =>
  `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n${extra}\r\n`;

test('an object comes back with its own text', async () => {
  await using echo = await Echo.start({ maxBytes: 1000 });
  assert.equal(await echo.post(' {"a": 1.0, "ü": "😀"} '), [200, ' {"a": 1.0, "ü": "😀"} ']);
});

test('content types other than JSON in UTF-8 are refused', async () => {
  await using echo = await Echo.start({ maxBytes: 1000 });
  const good = ['Application/JSON', 'application/json; charset=utf-8', 'application/json;charset="UTF-8" ; x=1'];
  for (const type of good) assert.is((await echo.post('{}', { 'content-type': type }))[0], 200, type);
  const bad = ['', 'text/plain', 'application/jsonx', 'application/json; charset=latin1', 'application/json;charset='];
  for (const type of bad) assert.is((await echo.post('{}', { 'content-type': type }))[0], 415, type);
});

test('compressed bodies are refused', async () => {
  await using echo = await Echo.start({ maxBytes: 1000 });
  assert.is((await echo.post(gzipSync('{}'), { ...JSON_TYPE, 'content-encoding': 'gzip' }))[0], 415);
  assert.is((await echo.post('{}', { ...JSON_TYPE, 'content-encoding': 'identity' }))[0], 200);
});

test('the limit is exact, with and without a content length', async () => {
  await using echo = await Echo.start({ maxBytes: 20 });
  assert.is((await echo.post(`{"a":"${'x'.repeat(12)}"}`))[0], 200);
  assert.is((await echo.post(`{"a":"${'x'.repeat(13)}"}`))[0], 413);
  const chunked = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  const peer = await echo.connect(chunked, 'c\r\n{"a":"123456\r\n', '8\r\n789012"}\r\n0\r\n\r\n');
  await peer.awaitText('200 OK');
  peer.socket.write(`${chunked}c\r\n{"a":"123456\r\n9\r\n7890123"}\r\n0\r\n\r\n`);
  await peer.awaitText('413 ');
  peer.socket.destroy();
});

test('a body in single bytes is put together, across the bytes of a character', async () => {
  await using echo = await Echo.start({ maxBytes: 1000 });
  const body = Buffer.from('{"a":"😀"}');
  const peer = await echo.connect(head(body.length));
  for (const byte of body) {
    peer.socket.write(Buffer.of(byte));
    await delay(2);
  }
  await peer.awaitText('{"a":"😀"}');
  peer.socket.destroy();
});

test('bytes that are not strict JSON in UTF-8 are refused as invalid', async () => {
  await using echo = await Echo.start({ maxBytes: 10_000, maxDepth: 4 });
  const refused: (string | Uint8Array)[] = ['', ' ', '[]', 'null', '"a"', '1', '{"a":1,"a":2}', '{"a":"\\ud800"}'];
  refused.push('{"a":1e999}', '{"a":NaN}', '{}{}', '{"a":1,}', '\ufeff{}', '{"a":[[[[1]]]]}', '['.repeat(9000));
  refused.push(Buffer.from('7b2261223a22ff227d', 'hex'), Buffer.from('7b2261223a22eda080227d', 'hex'));
  for (const body of refused) {
    const [status, text] = await echo.post(body);
    assert.is(status, 400, String(body));
    assert.match(text, /^invalid-json: /);
  }
});

test('a refused large body reaches its end, and the same connection carries the next request', async () => {
  await using echo = await Echo.start({ maxBytes: 1000 });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = async (body: Buffer, headers = {}): Promise<[number | undefined, number | undefined]> => {
    const request = httpRequest({
      port: echo.port,
      host: '127.0.0.1',
      method: 'POST',
      agent,
      headers: { ...JSON_TYPE, ...headers },
    });
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const port = response.socket.localPort;
    response.resume();
    await once(response, 'end');
    return [response.statusCode, port];
  };
  const [first, port] = await send(Buffer.alloc(3_000_000, 32));
  assert.is(first, 413);
  await delay(50);
  const chunked = await send(Buffer.alloc(3_000_000, 32), { 'transfer-encoding': 'chunked' });
  assert.equal(chunked, [413, port]);
  await delay(50);
  assert.equal(await send(Buffer.from('{}')), [200, port]);
  agent.destroy();
});

test('a peer that never ends a refused body is cut off', async () => {
  await using echo = await Echo.start({ maxBytes: 1000 });
  const peer = await echo.connect(head(10_000_000), 'x'.repeat(5000));
  await peer.awaitText('413 ');
  const start = performance.now();
  await peer.closed;
  assert.ok(performance.now() - start < 10_000);
});

test('a body that does not come answers 408 and closes', async () => {
  await using echo = await Echo.start({ maxBytes: 1000, deadlineMs: 200 });
  const peer = await echo.connect(head(100), '{"a"');
  await peer.awaitText('408 ');
  await peer.closed;
  assert.equal(echo.outcomes, ['request-timeout']);
});

test('bodies that fill the memory and never end make room for one that does', async () => {
  const budget = new BodyBudget(10_000);
  await using echo = await Echo.start({ maxBytes: 8_000, budget });
  const hogs = [await echo.connect(head(8_000), ' '.repeat(7_000)), await echo.connect(head(8_000), ' '.repeat(2_900))];
  await until('both in memory', () => budget.bytes === 9_900);
  assert.equal(await echo.post(`{"a":"${'x'.repeat(500)}"}`), [200, `{"a":"${'x'.repeat(500)}"}`]);
  await hogs[0]?.awaitText('503 ');
  assert.match(hogs[0]?.received ?? '', /retry-after: 1/i);
  assert.equal(echo.outcomes, ['dependency-unavailable', 'ok']);
  assert.is(budget.bytes, 2_900);
  for (const { socket } of hogs) socket.destroy();
  await until('a caller who left holds nothing', () => budget.bytes === 0);
});

test('a drip of bytes does not extend the deadline', async () => {
  await using echo = await Echo.start({ maxBytes: 1000, deadlineMs: 300 });
  const peer = await echo.connect(head(100));
  const drip = setInterval(() => peer.socket.write(' '), 30);
  await peer.awaitText('408 ');
  clearInterval(drip);
  await peer.closed;
});

test('a peer that goes away half-way is an aborted request, once', async () => {
  await using echo = await Echo.start({ maxBytes: 1000 });
  const peer = await echo.connect(head(100), '{"a":');
  await until('it is being read', () => echo.asked === 1);
  peer.socket.resetAndDestroy();
  await until('an outcome', () => echo.outcomes.length === 1);
  const gentle = await echo.connect(head(7), '{"a":');
  gentle.socket.end();
  await until('another outcome', () => echo.outcomes.length > 1);
  assert.equal(echo.outcomes, ['request-aborted', 'request-aborted']);
});

test('a request that died before its body was asked for is aborted too', async () => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(head(100));
  const [request] = (await once(server, 'request')) as [IncomingMessage];
  socket.destroy();
  await new Promise((resolve) => request.once('close', resolve));
  const code = await readJsonBody(request, { maxBytes: 1000 }).catch((error: unknown) => toProblem(error).code);
  assert.is(code, 'request-aborted');
  server.close();
});

test('bytes past a lying content length are not part of the body', async () => {
  await using echo = await Echo.start({ maxBytes: 1000 });
  const peer = await echo.connect(`${head(2)}{}${head(7)}{"b":1}`);
  await peer.awaitText('{"b":1}');
  assert.equal(echo.outcomes, ['ok', 'ok']);
  peer.socket.write('{"c":1}');
  await peer.awaitText('400 ');
  await peer.closed;
  for (const lie of ['-1', '1e3', '0x10', '5, 6']) {
    const liar = await echo.connect(head(lie), '{}');
    await liar.awaitText('400 ');
    liar.socket.destroy();
  }
  assert.equal(echo.outcomes, ['ok', 'ok']);
});

test('long bodies that arrive together are parsed in turns of the event loop of their own', async () => {
  const text = JSON.stringify({ a: 'x'.repeat(40_000) });
  const turns: number[] = [];
  using count = new TurnCount();
  const read = async (body: string): Promise<void> => {
    const request = new IncomingMessage(new Socket());
    request.headers = JSON_TYPE;
    request.push(body);
    request.push(null);
    await readJsonBody(request, { maxBytes: 1 << 20 });
    turns.push(count.turns);
  };
  await Promise.all([read(text), read(text), read(text)]);
  assert.is(new Set(turns).size, 3);
});

test.run();
