import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { boundConnections, type ConnectionBounds } from '../../../node/http/server.ts';
import { AddressList, NO_ADDRESSES } from '../../../node/outbound/address-list.ts';
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

/** A connection that came from anywhere. */
function socketFrom(address: string | undefined): Socket {
  return Object.defineProperty(new Socket(), 'remoteAddress', { value: address });
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
  const open = await bounded({ all: 5, ofAddress: 2, proxies: NO_ADDRESSES });
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
  const open = await bounded({ all: 3, ofAddress: 5, proxies: NO_ADDRESSES });
  const held = [await open(), await open(), await open()];
  assert.is(await ask(await open()), '');
  for (const socket of held) {
    assert.is(await ask(socket), 'HTTP/1.1 200');
    socket.destroy();
  }
});

test("a proxy's connections are those of many callers: only the bound on all is theirs", async () => {
  const open = await bounded({ all: 4, ofAddress: 1, proxies: new AddressList(['127.0.0.1']) });
  const held = [await open(), await open(), await open('127.0.0.2')];
  for (const socket of held) assert.is(await ask(socket), 'HTTP/1.1 200');
  assert.is(await ask(await open('127.0.0.2')), '');
  for (const socket of held) socket.destroy();
});

test('without TLS nobody from elsewhere is listened to but a proxy', async () => {
  const strangers: string[] = [];
  const onStranger = (address: string) => void strangers.push(address);
  const server = createServer((_request, response) => response.end('hello'));
  boundConnections(server, { all: 50, ofAddress: 5, proxies: new AddressList(['10.0.0.0/8', 'fd00::/8']), onStranger });
  const isLetIn = (remoteAddress: string | undefined) => {
    const socket = socketFrom(remoteAddress);
    server.emit('connection', socket);
    return !socket.destroyed;
  };
  for (const address of ['10.0.0.9', '::ffff:10.1.2.3', 'fd00::7', '127.0.0.1', '::1', '::ffff:127.0.0.9']) {
    assert.ok(isLetIn(address), address);
  }
  assert.equal(strangers, []);
  for (const address of ['192.0.2.1', '::ffff:192.0.2.1', 'fe80::1%eth0', '2001:db8::1', undefined]) {
    assert.not.ok(isLetIn(address), address);
  }
  assert.equal(strangers, ['192.0.2.1', '192.0.2.1', 'fe80::1', '2001:db8::1', '']);
});

test.run();
