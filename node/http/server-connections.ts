import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { addressKey, clientAddress } from '../limits/client-address.ts';

export interface ConnectionBounds {
  /** Connections in all; what comes beyond is closed at once. The process needs as many file descriptors and 2,000 more. */
  readonly all: number;
  /** Of them, connections of one address (IPv6: of one /64). Null behind a proxy, whose connections they all are. */
  readonly ofAddress: number | null;
}

export const MAX_CONNECTIONS = 8_192;
export const MAX_CONNECTIONS_OF_ADDRESS = 2_048;

/** Keeps a server's connections within bounds, so that callers who open very many leave some for others. */
export function boundConnections(server: Server, { all, ofAddress }: ConnectionBounds): void {
  server.maxConnections = all;
  if (ofAddress === null) return;
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = addressKey(clientAddress({ ...remoteOf(socket), forwardedFor: undefined }, false));
    const count = (open.get(address) ?? 0) + 1;
    open.set(address, count);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
    if (count > ofAddress) socket.destroy();
  });
}

function remoteOf({ remoteAddress }: Socket): { readonly remoteAddress: string | undefined } {
  return { remoteAddress };
}
