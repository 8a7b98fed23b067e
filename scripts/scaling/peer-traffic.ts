import diagnostics from 'node:diagnostics_channel';
import type { Socket } from 'node:net';

/** Bytes that the process's sockets between members have carried so far, TLS and all. */
export interface Traffic {
  readonly received: number;
  readonly sent: number;
}

const CHANNELS = ['net.client.socket', 'net.server.socket'] as const;

/** Counts what passes the sockets of this process whose one end is a port that members listen on. */
export class PeerTraffic implements Disposable {
  readonly #ports: ReadonlySet<number>;
  readonly #open = new Set<Socket>();
  #ended = { received: 0, sent: 0 };
  readonly #onSocket = (message: unknown): void => {
    if (hasSocket(message)) this.#watch(message.socket);
  };

  constructor(ports: Iterable<number>) {
    this.#ports = new Set(ports);
    for (const channel of CHANNELS) diagnostics.subscribe(channel, this.#onSocket);
  }

  read(): Traffic {
    let { received, sent } = this.#ended;
    for (const socket of this.#open) {
      if (!this.#isOfPeers(socket)) continue;
      received += socket.bytesRead;
      sent += socket.bytesWritten;
    }
    return { received, sent };
  }

  [Symbol.dispose](): void {
    for (const channel of CHANNELS) diagnostics.unsubscribe(channel, this.#onSocket);
  }

  #watch(socket: Socket): void {
    this.#open.add(socket);
    socket.once('close', () => {
      this.#open.delete(socket);
      if (!this.#isOfPeers(socket)) return;
      this.#ended = {
        received: this.#ended.received + socket.bytesRead,
        sent: this.#ended.sent + socket.bytesWritten,
      };
    });
  }

  /** Ports are known once a socket is connected; a closed one has forgotten its own, and remembers nobody's. */
  #isOfPeers({ localPort, remotePort }: Socket): boolean {
    return [localPort, remotePort].some((port) => port !== undefined && this.#ports.has(port));
  }
}

function hasSocket(message: unknown): message is { readonly socket: Socket } {
  return typeof message === 'object' && message !== null && 'socket' in message;
}
