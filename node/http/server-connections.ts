import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { AddressList } from '../outbound/address-list.ts';
import { type Addresses, addressKey, plainAddress } from '../accounts/limits/client-address.ts';

export interface ConnectionBounds {
  /** Connections in all; what comes beyond is closed at once. The process needs as many file descriptors and 2,000 more. */
  readonly all: number;
  /** Of them, connections of one address (IPv6: of one /64). */
  readonly ofAddress: number;
  /** The operator's proxies, whose connections carry many callers: only the bound on all is theirs. */
  readonly proxies: Addresses;
  /** Told of an address whose connection is closed because it has as many as it may. */
  readonly onRefused?: (address: string) => void;
  /** Told of whoever connects and is no proxy and not on this machine, where such a one is closed at once. */
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
