import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { flow } from './flow.ts';
import type { NetworkConditions } from './network-conditions.ts';
import { ownerOfPort } from './socket-owner.ts';

/** A place that is reached through the network's faults. */
export interface Gate {
  readonly place: string;
  /** Where others think that it listens. */
  readonly port: number;
  /** Where it does. */
  readonly behind: number;
}

export interface ProxyOptions {
  readonly gates: readonly Gate[];
  readonly links: NetworkConditions;
  /** Process of each place that runs. */
  readonly processes: () => ReadonlyMap<string, number>;
  readonly random: () => number;
}

/**
 * TCP between places on one machine, under network faults. No privileges are needed. A dialler that is no place is
 * dropped.
 */
export class FaultProxy implements AsyncDisposable {
  readonly #options: ProxyOptions;
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #closing = new AbortController();

  private constructor(options: ProxyOptions) {
    this.#options = options;
  }

  static async start(options: ProxyOptions): Promise<FaultProxy> {
    const proxy = new FaultProxy(options);
    for (const gate of options.gates) {
      // A half that ends must not end the other before the news is through.
      const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
        void proxy.#carry(socket, gate);
      });
      proxy.#servers.push(server.listen(gate.port, '127.0.0.1'));
      await once(server, 'listening');
    }
    return proxy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    for (const socket of this.#sockets) socket.destroy();
    for (const server of this.#servers) if (server.listening) await new Promise((done) => server.close(done));
  }

  async #carry(dialler: Socket, { place, behind }: Gate): Promise<void> {
    this.#keep(dialler);
    const from = await this.#placeOf(dialler);
    if (from === undefined || this.#closing.signal.aborted) {
      dialler.destroy();
      return;
    }
    const listener = this.#keep(connect({ port: behind, host: '127.0.0.1', allowHalfOpen: true }));
    listener.setNoDelay(true);
    dialler.setNoDelay(true);
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, this.#closing.signal]);
    const { links, random } = this.#options;
    const changed = (until: AbortSignal) => links.changed(until);
    const there = { from: dialler, to: listener, conditions: () => links.between(from, place) };
    const back = { from: listener, to: dialler, conditions: () => links.between(place, from) };
    // Once the news of an end is through in one direction there is nobody left to send to in the other.
    const end = () => {
      over.abort();
      dialler.destroySoon();
      listener.destroySoon();
    };
    await Promise.all([there, back].map((way) => flow({ ...way, changed, random, signal, onEnd: end })));
  }

  async #placeOf({ remotePort }: Socket): Promise<string | undefined> {
    const processes = [...this.#options.processes()];
    const pids = processes.map(([, pid]) => pid);
    const pid = remotePort === undefined ? undefined : await ownerOfPort(remotePort, pids).catch(() => undefined);
    return processes.find(([, candidate]) => candidate === pid)?.[0];
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
    return socket;
  }
}
