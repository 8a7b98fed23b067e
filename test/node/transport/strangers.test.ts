import { connect, type Socket } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../../fixtures/until.ts';
import { memberOf, Network, peerOf, type PeerOptions } from './network.ts';

/** More than a node lets in at once from anybody. */
const HELD_PER_ADDRESS = 150;

/** Connections that say nothing, from addresses of their own; each that ends is opened again, until it is disposed. */
class Strangers implements Disposable {
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  #isOver = false;

  constructor(port: number, addresses: readonly string[]) {
    this.#port = port;
    for (const address of addresses) for (let i = 0; i < HELD_PER_ADDRESS; i++) this.#knock(address);
  }

  /** Those that the node has let in, as far as a stranger can tell. */
  get held(): number {
    return [...this.#sockets].filter((socket) => socket.readyState === 'open').length;
  }

  #knock(localAddress: string): void {
    if (this.#isOver) return;
    const socket = connect({ port: this.#port, host: '127.0.0.1', localAddress });
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      setTimeout(() => this.#knock(localAddress), 20);
    });
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** `eu` and `us`, with `eu`, who dials, gone; `come` starts it again. */
async function parted(options: PeerOptions): Promise<Network & { port: number; come(): Promise<void> }> {
  const network = await Network.of(['eu', 'us'], { us: options });
  await network.meshed();
  await network.stop('eu');
  const port = Number(/tcp\/(\d+)/.exec(network.transport('us').addresses()[0] ?? '')?.[1]);
  const come = async (): Promise<void> => {
    const eu = peerOf('eu', network.members);
    network.peers.set('eu', eu);
    await eu.transport.start();
    const us = await memberOf('us', network.transport('us').addresses());
    network.members = [await memberOf('eu', eu.transport.addresses()), us];
    await network.tell();
  };
  return Object.assign(network, { port, come });
}

test('a stranger that holds every connection it can get keeps no member out', async () => {
  await using network = await parted({});
  using strangers = new Strangers(network.port, ['127.0.0.2']);
  await until('the door to be crowded', () => strangers.held >= 100);
  const began = performance.now();
  await network.come();
  await network.meshed();
  assert.ok(strangers.held > 0, 'the strangers are still there');
  console.log(`met after ${Math.round(performance.now() - began)} ms beside ${strangers.held} held connections`);
});

test('where strangers from many addresses crowd the door of a node, it goes out to those who cannot come in', async () => {
  await using network = await parted({ limits: { dialAnyway: 1_000 } });
  const addresses = Array.from({ length: 12 }, (_, i) => `127.0.0.${i + 2}`);
  using strangers = new Strangers(network.port, addresses);
  await until('the door to be crowded', () => strangers.held >= 128);
  const began = performance.now();
  await network.come();
  await network.meshed();
  assert.ok(strangers.held > 0, 'the strangers are still there');
  console.log(`met after ${Math.round(performance.now() - began)} ms beside ${strangers.held} held connections`);
});

test.run();
