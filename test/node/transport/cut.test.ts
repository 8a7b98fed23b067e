import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ask, memberOf, Network, peerOf } from './network.ts';
import { until } from '../../fixtures/until.ts';

/**
 * Soon noticed by the one that dials, long not by the other. The time is for a busy machine, which would lose the new
 * connection as well.
 */
const NOTICES = { pingInterval: 200, pingTimeout: 5_000 };

/** Passes connections on. What is cut stays silent for ever, to both ends; later connections pass. */
class Passage implements AsyncDisposable {
  readonly port: number;
  readonly #sockets: Socket[];
  readonly #close: () => Promise<unknown>;

  private constructor(port: number, sockets: Socket[], close: () => Promise<unknown>) {
    this.port = port;
    this.#sockets = sockets;
    this.#close = close;
  }

  static async to(port: number): Promise<Passage> {
    const sockets: Socket[] = [];
    const server = createServer({ allowHalfOpen: true }, (dialler) => {
      const listener = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      for (const [from, to] of [[dialler, listener] as const, [listener, dialler] as const]) {
        sockets.push(from);
        from.on('error', () => from.destroy());
        from.pipe(to);
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('the passage does not listen');
    return new Passage(address.port, sockets, () => new Promise((done) => server.close(done)));
  }

  /** Cuts what is open. */
  cut(): void {
    for (const socket of this.#sockets) socket.unpipe().pause();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await this.#close();
  }
}

test('a member that dials anew is met anew, though its old connection still seems open here', async () => {
  await using network = await Network.of(['ca', 'eu'], { ca: { limits: NOTICES } });
  const port = Number(/tcp\/(\d+)/.exec(network.transport('eu').addresses()[0] ?? '')?.[1]);
  await using passage = await Passage.to(port);
  const eu = await memberOf('eu', [`/ip4/127.0.0.1/tcp/${passage.port}`]);
  network.members = network.members.map((member) => (member.node === 'eu' ? eu : member));
  await network.stop('ca');
  await network.tell();
  const ca = peerOf('ca', network.members, { limits: NOTICES });
  network.peers.set('ca', ca);
  await ca.transport.start();
  await network.meshed();
  network.transport('eu').serve('status', async function* () {
    yield Buffer.from('well');
  });
  const met: string[] = [];
  network.transport('eu').onConnect((node) => met.push(node));
  const lost = new Promise<string>((resolve) => network.transport('ca').onDisconnect(resolve));
  passage.cut();
  await lost;
  const began = performance.now();
  await until('to be met again', () => met.length > 0);
  for (const [from, to] of [['ca', 'eu'] as const, ['eu', 'ca'] as const]) {
    let tries = 0;
    await until(`gossip from ${from}`, () => {
      // One that nobody heard was lost.
      void network.transport(from).publish('keys', Buffer.from(`${from} ${tries++}`));
      return network.peer(to).received.length > 0;
    });
  }
  assert.equal(await ask(network.transport('ca'), 'eu', 'status', ''), ['well']);
  assert.equal(met, ['ca']);
  const took = performance.now() - began;
  assert.ok(took < 12_000, `gossip both ways after ${took} ms`);
});

test.run();
