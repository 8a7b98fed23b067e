import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { NO_ADDRESSES } from '../../../node/outbound/address-list.ts';
import { listenOnQueues, stopListening } from '../../../node/http/accept-queues.ts';
import { listen } from '../../../node/http/server.ts';
import { freePort } from '../../fixtures/ports.ts';
import { testWhere } from '../../fixtures/test-where.ts';

const HOST = '127.0.0.1';
const greet: RequestListener = (_request, response) => response.end('hello');

async function opened(port: number): Promise<Socket> {
  const socket = connect({ port, host: HOST });
  await once(socket, 'connect');
  return socket;
}

/** One that was not accepted yet is reset. */
function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) =>
    socket
      .on('error', () => {})
      .once('close', () => resolve())
      .resume(),
  );
}

/** Turns of the event loop from the first to the last of so many connections that came in the same moment. */
async function iterationsToAccept(
  port: number,
  server: ReturnType<typeof createServer>,
  count: number,
): Promise<number> {
  let accepted = 0;
  let iterations = 0;
  const all = Promise.withResolvers<void>();
  server.on('connection', () => {
    accepted++;
    if (accepted === count) all.resolve();
  });
  const sockets = Array.from({ length: count }, () => connect({ port, host: HOST }));
  let isOver = false;
  const turn = (): void => {
    if (accepted > 0) iterations++;
    if (!isOver) setImmediate(turn);
  };
  turn();
  await all.promise;
  isOver = true;
  for (const socket of sockets) socket.destroy();
  return iterations;
}

testWhere(process.platform === 'linux', 'queues are shared on Linux alone')(
  'several connections are accepted in one turn of the event loop',
  async () => {
    const server = createServer(greet);
    const port = await freePort();
    const beside = await listenOnQueues(server, { host: HOST, port });
    const iterations = await iterationsToAccept(port, server, 128);
    await Promise.all([server, ...beside].map(stopListening));
    assert.ok(iterations < 64, `${iterations} turns for 128 connections`);
  },
);

test('every queue answers, within the bounds on all connections, and all end with the listener', async () => {
  const http = { host: HOST, port: await freePort(), tls: null, trustedProxies: NO_ADDRESSES };
  const listener = await listen(greet, http, () => 'https://eu.example');
  for (let i = 0; i < 40; i++) {
    const response = await fetch(`http://${HOST}:${http.port}/`, { headers: { connection: 'close' } });
    assert.is(await response.text(), 'hello');
  }
  const idle = await Promise.all(Array.from({ length: 40 }, () => opened(http.port)));
  const closed = Promise.all(idle.map(closeOf));
  await listener[Symbol.asyncDispose]();
  await closed;
  const error: unknown = await opened(http.port).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED');
});

test('a port with several queues is not shared with another node', async () => {
  const http = { host: HOST, port: await freePort(), tls: null, trustedProxies: NO_ADDRESSES };
  await using _first = await listen(greet, http, () => 'https://eu.example');
  const error: unknown = await listen(greet, http, () => 'https://us.example').catch((thrown: unknown) => thrown);
  assert.is(error instanceof Error && 'code' in error && error.code, 'EADDRINUSE');
});

test.run();
