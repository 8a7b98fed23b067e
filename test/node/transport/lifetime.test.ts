import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ask, memberOf, Network, peerOf } from './network.ts';
import { until } from '../../fixtures/until.ts';
import type { AddressInfo, Server, Socket } from 'node:net';

const EXIT_PATIENCE = 20_000;
/** TLS 1.3 named group X25519MLKEM768. */
const HYBRID_GROUP = 0x11ec;
const SERVER_HELLO = 2;
const HANDSHAKE_RECORD = 0x16;
const KEY_SHARE = 51;

const LIFE = `
  import { Network } from ${JSON.stringify(new URL('./network.ts', import.meta.url).href)};
  const network = await Network.of(['ca', 'eu', 'us']);
  await network.meshed();
  network.transport('eu').serve('status', async function* () { yield Buffer.from('here'); });
  for await (const frame of network.transport('us').request('eu', 'status', Buffer.from(''))) console.log(Buffer.from(frame).toString());
  await network.transport('us').publish('batch', Buffer.from('x'));
  await network[Symbol.asyncDispose]();
  console.log('disposed');
`;

const SERVER = `
  import { ask, memberOf, peerOf } from ${JSON.stringify(new URL('./network.ts', import.meta.url).href)};
  const { transport } = peerOf('us', [await memberOf('eu'), await memberOf('us')]);
  transport.serve('status', async function* (request) { yield request; });
  await transport.start();
  console.log(transport.addresses()[0]);
`;

test('a process whose transports are disposed ends by itself', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', LIFE], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.on('data', (text: Buffer) => (said += text.toString()));
  const signal = AbortSignal.timeout(EXIT_PATIENCE);
  try {
    const [code] = await once(child, 'exit', { signal });
    assert.is(code, 0);
    assert.is(said, 'here\ndisposed\n');
  } finally {
    child.kill('SIGKILL');
  }
});

test('a node killed with SIGKILL is noticed at once, and meshes again when it is back', async () => {
  await using eu = peerOf('eu', [await memberOf('eu'), await memberOf('us')]).transport;
  await eu.start();
  for (const text of ['first life', 'second life']) {
    const child = spawn(process.execPath, ['--input-type=module', '--eval', SERVER], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [address] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(EXIT_PATIENCE) });
      assert.instance(address, Buffer);
      await eu.setMembers([await memberOf('eu'), await memberOf('us', [String(address).trim()])]);
      await until('the mesh', () => eu.peers()[0]?.subscribed.length === 3);
      assert.equal(await ask(eu, 'us', 'status', text), [text]);
    } finally {
      child.kill('SIGKILL');
    }
    await until('the leaving', () => eu.peers()[0]?.connected === false);
    assert.is(await eu.publish('batch', Buffer.from(text)), 0);
  }
});

test('a transport disposed while it starts stops', async () => {
  const { transport } = peerOf('eu', [await memberOf('eu')]);
  const starting = transport.start();
  await transport[Symbol.asyncDispose]();
  await starting;
  assert.equal(transport.addresses(), []);
});

test('a port that is taken is an error, and the transport can be disposed', async () => {
  await using eu = peerOf('eu', [await memberOf('eu')]).transport;
  await eu.start();
  const listen = eu.addresses().map((address) => address.replace(/\/p2p\/.*/, ''));
  const { transport } = peerOf('us', [await memberOf('us')], { listen });
  let failed = false;
  await transport.start().catch(() => (failed = true));
  assert.ok(failed);
  await transport[Symbol.asyncDispose]();
});

test('only one side of each pair dials: five nodes that start at once have one connection a pair', async () => {
  const nodes = ['ca', 'eu', 'jp', 'sg', 'us'];
  const relays = await Promise.all(nodes.map(() => Relay.open()));
  await using network = await Network.of(nodes);
  network.members = await Promise.all(
    nodes.map(async (node, i) => {
      const relay = relays[i];
      if (relay === undefined) throw new Error('a relay for each');
      relay.target = Number(/tcp\/(\d+)/.exec(network.transport(node).addresses()[0] ?? '')?.[1]);
      return await memberOf(node, [`/ip4/127.0.0.1/tcp/${relay.port}`]);
    }),
  );
  // Until here the nodes knew each other's own addresses and may have met there.
  for (const own of network.members) await network.transport(own.node).setMembers([own]);
  await until('nobody connected', () => nodes.every((node) => network.transport(node).peers().length === 0));
  await network.tell();
  await network.meshed();
  try {
    assert.equal(
      relays.map((relay) => relay.accepted),
      [0, 1, 2, 3, 4],
    );
  } finally {
    for (const relay of relays) relay.close();
  }
});

test('the key exchange between two nodes is the hybrid X25519MLKEM768', async () => {
  const relay = await Relay.open();
  const nobody = [await memberOf('eu'), await memberOf('us')];
  await using eu = peerOf('eu', nobody).transport;
  await using us = peerOf('us', nobody).transport;
  try {
    await eu.start();
    await us.start();
    relay.target = Number(/tcp\/(\d+)/.exec(us.addresses()[0] ?? '')?.[1]);
    const members = [await memberOf('eu'), await memberOf('us', [`/ip4/127.0.0.1/tcp/${relay.port}`])];
    await us.setMembers(members);
    await eu.setMembers(members);
    await until('the connection', () => eu.peers()[0]?.connected === true);
    assert.is(groupOf(Buffer.concat(relay.answered)), HYBRID_GROUP);
  } finally {
    relay.close();
  }
});

/** A TCP relay that counts the connections it accepts and keeps what the far side answered. */
class Relay {
  target = 0;
  accepted = 0;
  readonly answered: Buffer[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (near) => {
      this.accepted += 1;
      const far = connect(this.target, '127.0.0.1');
      for (const socket of [near, far]) this.#sockets.add(socket.on('error', () => undefined));
      far.on('data', (bytes) => this.answered.push(bytes));
      near.pipe(far).pipe(near);
    });
  }

  static async open(): Promise<Relay> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Relay(server);
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the relay listens on TCP');
    return address.port;
  }

  close() {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** The named group that a TLS 1.3 ServerHello chose (RFC 8446 §4.1.3), wherever in the bytes the record begins. */
function groupOf(bytes: Buffer): number {
  const start = bytes.findIndex(
    (byte, i) => byte === HANDSHAKE_RECORD && bytes[i + 1] === 3 && bytes[i + 5] === SERVER_HELLO,
  );
  assert.ok(start >= 0, 'a ServerHello was seen');
  // record header 5, handshake header 4, version 2, random 32, then the session id with its length
  let at = start + 5 + 4 + 2 + 32;
  at += 1 + bytes.readUInt8(at);
  at += 2 + 1;
  const end = at + 2 + bytes.readUInt16BE(at);
  at += 2;
  while (at < end) {
    if (bytes.readUInt16BE(at) === KEY_SHARE) return bytes.readUInt16BE(at + 4);
    at += 4 + bytes.readUInt16BE(at + 2);
  }
  throw new Error('the ServerHello has no key share');
}

test.run();
