import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent, request as httpRequest, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { connect as tlsConnect, type SecureVersion } from 'node:tls';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { NO_ADDRESSES } from '../../../node/outbound/address-list.ts';
import { listen } from '../../../node/http/server.ts';

const TLS = join(import.meta.dirname, '../../fixtures/tls');
const tls = { certFile: join(TLS, 'localhost.crt'), keyFile: join(TLS, 'localhost.key') };
const BASE = 'https://eu.example';
const greet: RequestListener = (_request, response) => response.end('hello');

/** The TLS version that client and server agree on, or the code of their disagreement. */
async function agree(port: number, maxVersion: SecureVersion): Promise<string> {
  const ca = await readFile(tls.certFile);
  const socket = tlsConnect({ host: '127.0.0.1', port, ca, maxVersion });
  try {
    await once(socket, 'secureConnect');
    return socket.getProtocol() ?? 'none';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'failed';
  } finally {
    socket.destroy();
  }
}

test('with a certificate only TLS 1.3 is spoken', async () => {
  await using server = await listen(
    greet,
    { host: '127.0.0.1', port: 0, tls, trustedProxies: NO_ADDRESSES },
    () => BASE,
  );
  assert.is(await agree(server.port, 'TLSv1.3'), 'TLSv1.3');
  assert.match(await agree(server.port, 'TLSv1.2'), 'ALERT_PROTOCOL_VERSION');
});

test('a port that is taken is an error, not a silence', async () => {
  await using server = await listen(
    greet,
    { host: '127.0.0.1', port: 0, tls: null, trustedProxies: NO_ADDRESSES },
    () => BASE,
  );
  const second = listen(
    greet,
    { host: '127.0.0.1', port: server.port, tls: null, trustedProxies: NO_ADDRESSES },
    () => BASE,
  );
  const error: unknown = await second.catch((thrown: unknown) => thrown);
  assert.is(error instanceof Error && 'code' in error && error.code, 'EADDRINUSE');
});

test('an idle connection does not hold up the end; an answer under way is finished', async () => {
  const asked = Promise.withResolvers<() => void>();
  const slow: RequestListener = (_request, response) => asked.resolve(() => response.end('done'));
  const server = await listen(
    slow,
    { host: '127.0.0.1', port: 0, tls: null, trustedProxies: NO_ADDRESSES },
    () => BASE,
  );
  const agent = new Agent({ keepAlive: true });
  const request = httpRequest({ host: '127.0.0.1', port: server.port, agent }).end();
  const finish = await asked.promise;
  const ended = server[Symbol.asyncDispose]();
  setTimeout(finish, 50);
  const [response]: unknown[] = await once(request, 'response');
  assert.is(typeof response === 'object' && response !== null && 'statusCode' in response && response.statusCode, 200);
  const started = performance.now();
  request.destroy();
  agent.destroy();
  await ended;
  assert.ok(performance.now() - started < 1_000);
});

test('an answer that never comes is cut off soon after the end was asked for', async () => {
  const asked = Promise.withResolvers<void>();
  const server = await listen(
    () => asked.resolve(),
    { host: '127.0.0.1', port: 0, tls: null, trustedProxies: NO_ADDRESSES },
    () => BASE,
  );
  const request = httpRequest({ host: '127.0.0.1', port: server.port }).end();
  const failed = once(request, 'error');
  await asked.promise;
  const started = performance.now();
  await server[Symbol.asyncDispose]();
  assert.ok(performance.now() - started < 10_000);
  await failed;
});

test.run();
