import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Listener } from '../../../node/http/server.ts';
import { listenForMetrics } from '../../../node/http/metrics-listener.ts';
import { Metrics } from '../../../node/metrics/metrics.ts';
import { until } from '../../fixtures/until.ts';

const LOOPBACK = { host: '127.0.0.1', port: 0 };
const MAX_CONNECTIONS = 16;
const silent = pino({ level: 'silent' });

function addressOf({ port }: Listener): string {
  return `http://127.0.0.1:${port}/metrics`;
}

test('a scrape shows what was counted, as Prometheus reads it', async () => {
  const metrics = new Metrics('eu');
  metrics.countGroup();
  await using listener = await listenForMetrics(metrics, LOOPBACK, silent);
  const answer = await fetch(addressOf(listener));
  assert.is(answer.status, 200);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
  assert.match(await answer.text(), /^meridian_groups_total\{node="eu"\} 1$/m);
});

test('HEAD says how long the answer would be', async () => {
  await using listener = await listenForMetrics(
    { expose: async () => ({ contentType: 'text/plain', text: 'é 1\n' }) },
    LOOPBACK,
    silent,
  );
  const answer = await fetch(addressOf(listener), { method: 'HEAD' });
  assert.equal([answer.status, answer.headers.get('content-length'), await answer.text()], [200, '5', '']);
});

test('there is nothing else on its port', async () => {
  await using listener = await listenForMetrics(new Metrics('eu'), LOOPBACK, silent);
  const base = addressOf(listener);
  for (const path of ['x', '/', '?a=1']) assert.is((await fetch(base + path)).status, 404, path);
  assert.is((await fetch(new URL('/v1/health', base))).status, 404);
  const posted = await fetch(base, { method: 'POST' });
  assert.equal([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD']);
});

test('scrapes at the same time share one rendering, and the next has its own', async () => {
  const rendered = Promise.withResolvers<void>();
  let renderings = 0;
  const expose = async () => {
    const text = `renderings ${++renderings}\n`;
    await rendered.promise;
    return { contentType: 'text/plain', text };
  };
  await using listener = await listenForMetrics({ expose }, LOOPBACK, silent);
  const socket = connect(listener.port, '127.0.0.1')
    .setEncoding('utf8')
    .on('error', () => {});
  // Sent in one piece, all are read before the first is answered.
  socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3));
  await until('the scrapes to arrive', () => renderings > 0);
  rendered.resolve();
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  await until('three answers', () => text.split('renderings').length > 3);
  assert.equal(text.match(/renderings \d/g), ['renderings 1', 'renderings 1', 'renderings 1']);
  socket.destroy();
  assert.is(await (await fetch(addressOf(listener))).text(), 'renderings 2\n');
});

test('metrics that cannot be read are an error once, and are read again', async () => {
  let fails = true;
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const expose = async () => {
    if (fails) throw new Error('no store');
    return { contentType: 'text/plain', text: 'a 1\n' };
  };
  await using listener = await listenForMetrics({ expose }, LOOPBACK, log);
  assert.is((await fetch(addressOf(listener))).status, 500);
  assert.match(lines.join(''), 'no store');
  fails = false;
  assert.is(await (await fetch(addressOf(listener))).text(), 'a 1\n');
});

test('connections beyond its bound are closed at once, and one that ends makes room', async () => {
  await using listener = await listenForMetrics(new Metrics('eu'), LOOPBACK, silent);
  const held: Socket[] = [];
  try {
    for (let i = 0; i < MAX_CONNECTIONS; i++) {
      const socket = connect(listener.port, '127.0.0.1').on('error', () => {});
      await once(socket, 'connect');
      held.push(socket);
    }
    const beyond = connect(listener.port, '127.0.0.1').on('error', () => {});
    await once(beyond, 'close');
    const first = held.shift();
    first?.destroy();
    await until('a closed connection is one more that may be opened', async () => {
      const answer = await fetch(addressOf(listener)).catch(() => null);
      return answer?.status === 200;
    });
  } finally {
    for (const socket of held) socket.destroy();
  }
});

test.run();
