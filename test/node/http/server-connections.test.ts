import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { boundConnections, type ConnectionBounds } from '../../../node/http/server-connections.ts';
import { until } from '../../fixtures/until.ts';

/** A server within bounds, and a way to connect from an address of this machine. */
async function bounded(bounds: ConnectionBounds): Promise<(from?: string) => Promise<Socket>> {
  const server = createServer((_request, response) => response.end('hello'));
  boundConnections(server, bounds);
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return async (from = '127.0.0.1') => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    await once(socket, 'connect');
    return socket.setEncoding('utf8').on('error', () => {});
  };
}

/** What the server answers on a connection; nothing where it closed it. */
async function ask(socket: Socket): Promise<string> {
  if (socket.closed) return '';
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.once('data', (chunk) => resolve(String(chunk).slice(0, 12)));
  socket.once('close', () => resolve(''));
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  return promise;
}

test('one address cannot take the connections of others', async () => {
  const open = await bounded({ all: 5, ofAddress: 2 });
  const held = [await open(), await open()];
  assert.is(await ask(await open()), '');
  const other = await open('127.0.0.2');
  assert.is(await ask(other), 'HTTP/1.1 200');
  for (const socket of held) assert.is(await ask(socket), 'HTTP/1.1 200');
  held[0]?.destroy();
  const again: Socket[] = [];
  await until('a closed connection is one more that may be opened', async () => {
    const socket = await open();
    again.push(socket);
    return (await ask(socket)) === 'HTTP/1.1 200';
  });
  for (const socket of [...held, ...again, other]) socket.destroy();
});

test('what comes beyond the bound on all is closed, the others go on', async () => {
  const open = await bounded({ all: 3, ofAddress: null });
  const held = [await open(), await open(), await open()];
  assert.is(await ask(await open()), '');
  for (const socket of held) {
    assert.is(await ask(socket), 'HTTP/1.1 200');
    socket.destroy();
  }
});

test.run();
