import type { Server } from 'node:http';
import { createServer, type ListenOptions, type Server as NetServer } from 'node:net';
import { Server as TlsServer } from 'node:tls';

/** Where a server of the API listens. */
export interface ListeningPlace extends Pick<ListenOptions, 'host' | 'backlog'> {
  readonly port: number;
}

/**
 * Sockets that listen on one port. Of each one connection is accepted in a turn of the event loop (libuv), so that with
 * one alone a hundred new callers wait for a hundred turns; the system spreads connections over them.
 */
const QUEUES = 32;

/**
 * Listens on a port with several sockets where the system can (Linux), with one elsewhere and on a port that the system
 * is to choose. Returns the servers beside the one it is told of, which hand their connections to it and are to be
 * closed with it. Rejects where the port is taken, by another node as well.
 */
export async function listenOnQueues(server: Server, where: ListeningPlace): Promise<NetServer[]> {
  if (where.port === 0 || process.platform !== 'linux') {
    await startListening(server, where);
    return [];
  }
  // Sockets that share a port would share it with those of another node, too: this one shares with nobody, and fails
  // there.
  const alone = createServer();
  await startListening(alone, where);
  await stopListening(alone);
  const beside: NetServer[] = [];
  const take = (socket: unknown): boolean => server.emit('connection', socket);
  const options = { noDelay: true, allowHalfOpen: !(server instanceof TlsServer) };
  try {
    await startListening(server, { ...where, reusePort: true });
    for (let queue = 1; queue < QUEUES; queue++) {
      const other = createServer(options, take);
      await startListening(other, { ...where, reusePort: true });
      beside.push(other);
    }
    return beside;
  } catch (error) {
    await Promise.all([server, ...beside].map(stopListening));
    throw error;
  }
}

/** Resolves once the server listens; rejects where it cannot. */
export async function startListening(server: NetServer, where: ListenOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(where, resolve);
  await promise;
  server.off('error', reject);
}

/** Accepts nothing more; resolves once all connections have ended. */
export function stopListening(server: NetServer): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
