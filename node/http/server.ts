import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, ListenOptions, Server as NetServer, Socket } from 'node:net';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { ADDRESS_ALLOWANCE, CONNECTIONS } from '../accounts/limits/allowances.ts';
import { type Addresses, addressKey, plainAddress } from '../accounts/limits/client-address.ts';
import type { HttpConfig } from '../config/config.ts';
import { ConfigError } from '../config/read-variable.ts';
import { AddressList } from '../outbound/address-list.ts';
import { isLoopback } from '../outbound/redirects.ts';
import { listenOnQueues, startListening, stopListening } from './accept-queues.ts';
import { answerRequests } from './malformed-requests.ts';

export interface ConnectionBounds {
  /**
   * Connections in all; what comes beyond is closed at once. The process needs as many file descriptors and 2,000 more.
   */
  readonly all: number;
  /** Of them, connections of one address (IPv6: of one /64). */
  readonly ofAddress: number;
  /** The operator's proxies, whose connections carry many callers: only the bound on all is theirs. */
  readonly proxies: Addresses;
  /** Told of an address whose connection is closed because it has as many as it may. */
  readonly onRefused?: (address: string) => void;
  /** Told of anyone who connects and is no proxy and not on this machine, where such a one is closed at once. */
  readonly onStranger?: (address: string) => void;
}

const THIS_MACHINE = new AddressList(['127.0.0.0/8', '::1']);

/** Keeps a server's connections within bounds, so that callers who open very many leave some for others. */
export function boundConnections(
  server: Server,
  { all, ofAddress, proxies, onRefused, onStranger }: ConnectionBounds,
): void {
  const open = new Map<string, number>();
  let total = 0;
  server.on('connection', (socket: Socket) => {
    total++;
    socket.once('close', () => total--);
    if (total > all) {
      socket.destroy();
      return;
    }
    const address = plainAddress(socket.remoteAddress ?? '');
    if (proxies.admits(address)) return;
    if (onStranger !== undefined && !THIS_MACHINE.admits(address)) {
      onStranger(address);
      socket.destroy();
      return;
    }
    const key = addressKey(address);
    const count = (open.get(key) ?? 0) + 1;
    open.set(key, count);
    socket.once('close', () => {
      const left = (open.get(key) ?? 1) - 1;
      if (left === 0) open.delete(key);
      else open.set(key, left);
    });
    if (count <= ofAddress) return;
    onRefused?.(key);
    socket.destroy();
  });
}

/** Bounds on a caller's connection, in milliseconds. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 60_000;
const KEEP_ALIVE_MS = 65_000;
/** With nothing sent either way, an answer under way included: longer than the longest `Prefer: wait`. */
const SILENCE_MS = 150_000;
const HANDSHAKE_MS = 10_000;
/** How often connections are held against these bounds. */
const CHECK_MS = 5_000;
/** How long answers under way may take once the node is told to stop. */
const DRAIN_MS = 2_000;
/** Connections that wait to be accepted, of each queue. The system may allow fewer (`net.core.somaxconn`). */
const BACKLOG = 4_096;
const MAX_HEADER_BYTES = 16 << 10;

const OPTIONS = {
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: HEADERS_MS,
  requestTimeout: REQUEST_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  connectionsCheckingInterval: CHECK_MS,
  // A missing host is answered like everything that is malformed.
  requireHostHeader: false,
};

/** A listening server that ends its connections when disposed. */
export interface Listener extends AsyncDisposable {
  /** Port it listens on; 0 for a socket in the file system. */
  readonly port: number;
}

/** Who is told of connections that are closed at once. */
export type ConnectionWatch = Pick<ConnectionBounds, 'onRefused' | 'onStranger'>;

/**
 * Listens for HTTP, or for HTTPS with TLS 1.3 alone where there is a certificate. `baseUrl` is the server's public
 * address, without a slash at its end. Beyond this machine, HTTP in the clear is spoken with the operator's proxies
 * alone: `onStranger` is told of anyone else, whose connection is closed. Throws `ConfigError` where the certificate or
 * its key cannot be used.
 */
export async function listen(
  handler: RequestListener,
  { host, port, tls, trustedProxies }: HttpConfig,
  baseUrl: () => string,
  { onStranger = () => {}, onRefused }: ConnectionWatch = {},
): Promise<Listener> {
  const server =
    tls === null ? createHttpServer(OPTIONS) : createHttpsServer({ ...OPTIONS, ...(await tlsOptions(tls)) });
  server.timeout = SILENCE_MS;
  answerRequests(server, handler, baseUrl);
  boundConnections(server, {
    all: CONNECTIONS,
    ofAddress: ADDRESS_ALLOWANCE.connections,
    ...(onRefused === undefined ? {} : { onRefused }),
    proxies: trustedProxies,
    ...(tls === null && !isLoopback(host) ? { onStranger } : {}),
  });
  const beside = await listenOnQueues(server, { host, port, backlog: BACKLOG });
  return listenerOf(server, beside);
}

async function tlsOptions({ certFile, keyFile }: NonNullable<HttpConfig['tls']>) {
  const cert = await readPem('TLS_CERT', certFile, (text) => ({ cert: text }));
  const key = await readPem('TLS_KEY', keyFile, (text) => ({ cert, key: text }));
  return { cert, key, minVersion: 'TLSv1.3' as const, handshakeTimeout: HANDSHAKE_MS };
}

/** Throws `ConfigError` naming the variable whose file cannot be read, or does not serve as `options` has it. */
async function readPem(
  name: 'TLS_CERT' | 'TLS_KEY',
  file: string,
  options: (text: Buffer) => SecureContextOptions,
): Promise<Buffer> {
  try {
    const text = await readFile(file);
    createSecureContext(options(text));
    return text;
  } catch (error) {
    throw new ConfigError(`${name}: ${file}: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
}

/** Listens on a socket in the file system, which only its owner can reach. */
export function listenOnSocket(handler: RequestListener, path: string): Promise<Listener> {
  return bind(createHttpServer(handler), { path, readableAll: false, writableAll: false });
}

/** Listens where it is told; rejects where that cannot be. */
export async function bind(server: Server, where: ListenOptions): Promise<Listener> {
  await startListening(server, where);
  return listenerOf(server, []);
}

/** `beside`: servers that hand their connections to the first. */
function listenerOf(server: Server, beside: readonly NetServer[]): Listener {
  const address: AddressInfo | string | null = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    [Symbol.asyncDispose]: () => close(server, beside),
  };
}

/** Stops accepting, lets answers under way finish for a moment, then cuts what is left. */
async function close(server: Server, beside: readonly NetServer[]): Promise<void> {
  const closed = Promise.all([server, ...beside].map(stopListening));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(timer);
}
