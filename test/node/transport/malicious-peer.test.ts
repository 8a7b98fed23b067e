import { multiaddr } from '@multiformats/multiaddr';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dataFrame, lastFrame } from '../../../node/transport/frames.ts';
import { peerIdOfSeed } from '../../../node/transport/identity.ts';
import { ask, codeOf, DIGEST, memberOf, Network, peerOf } from './network.ts';
import { until } from '../../fixtures/until.ts';
import { maliciousNode, sendRaw, sendRpc } from './malicious-peer.ts';
import type { MaliciousNode } from './malicious-peer.ts';
import type { Peer } from './network.ts';

const BATCH = `/meridian/${DIGEST}/batch/1`;
const BATCHES = `/meridian/${DIGEST}/batches/1`;
const STATUS = `/meridian/${DIGEST}/status/1`;
const TOPICS = ['batch', 'checkpoint', 'keys'].map((topic) => `/meridian/${DIGEST}/${topic}/1`);

interface Scene extends AsyncDisposable {
  readonly honest: Peer;
  /** Holds the identity of member `us`. */
  readonly hostile: MaliciousNode;
  readonly honestId: string;
}

/** An honest node, and a member that keeps none of the rules; the hostile one has dialled. */
async function scene(honestNode: string, options: Parameters<typeof peerOf>[2] = {}): Promise<Scene> {
  const members = [await memberOf(honestNode), await memberOf('us')];
  const honest = peerOf(honestNode, members, options);
  await honest.transport.start();
  const hostile = await maliciousNode('us');
  for (const topic of TOPICS) hostile.services.pubsub.subscribe(topic);
  await hostile.dial(honest.transport.addresses().map((address) => multiaddr(address)));
  const bothWays = () =>
    honest.transport.peers()[0]?.subscribed.length === 3 &&
    TOPICS.every((topic) => hostile.services.pubsub.getSubscribers(topic).length === 1);
  await until('gossip both ways', bothWays);
  return {
    honest,
    hostile,
    honestId: await peerIdOfSeed(honest.seed),
    [Symbol.asyncDispose]: async () => {
      await hostile.stop();
      await honest.transport[Symbol.asyncDispose]();
    },
  };
}

test('a member that knows the first version of a protocol alone asks and answers by that', async () => {
  const versions: number[] = [];
  await using it = await scene('eu');
  it.honest.transport.serve('batches', async function* (_request, _from, _signal, version) {
    versions.push(version);
    yield new Uint8Array(1);
  });
  const [connection] = it.hostile.getConnections();
  const stream = await connection?.newStream(BATCHES);
  stream?.send(dataFrame(new Uint8Array()));
  await until('its answer', () => versions.length === 1);
  stream?.abort(new Error('over'));
  let asked = '';
  await it.hostile.handle(BATCHES, (answering) => {
    asked = answering.protocol;
    answering.send(dataFrame(Buffer.from('by the first')));
    answering.send(lastFrame('end'));
  });
  assert.equal(await ask(it.honest.transport, 'us', 'batches', ''), ['by the first']);
  assert.equal([versions, asked], [[1], BATCHES]);
});

test('members that know a newer version of a protocol use it', async () => {
  await using network = await Network.of(['eu', 'us']);
  await network.meshed();
  network.transport('us').serve('batches', async function* (_request, _from, _signal, version) {
    yield Buffer.from(`version ${version}`);
  });
  assert.equal(await ask(network.transport('eu'), 'us', 'batches', ''), ['version 2']);
});

test('a stranger that dials is dropped, and hears and says nothing', async () => {
  await using network = await Network.of(['eu', 'us']);
  await network.meshed();
  const stranger = await maliciousNode('stranger');
  try {
    for (const topic of TOPICS) stranger.services.pubsub.subscribe(topic);
    // The dial may seem to succeed: the listener learns who it is only after the handshake.
    await stranger.dial(multiaddr(network.transport('eu').addresses()[0] ?? '')).catch(() => undefined);
    await until('the drop', () => stranger.getConnections().length === 0);
    await stranger.services.pubsub.publish(BATCH, Buffer.from('from a stranger'));
    await network.transport('eu').publish('batch', Buffer.from('from a member'));
    await until('the member’s message', () => network.peer('us').received.length === 1);
    assert.is(network.peer('eu').received.length, 0);
    assert.is(network.peer('us').received[0]?.text, 'from a member');
  } finally {
    await stranger.stop();
  }
});

test('a stranger that listens at a member’s address is not taken for the member', async () => {
  const stranger = await maliciousNode('stranger');
  const address = stranger.getMultiaddrs()[0]?.decapsulate('/p2p').toString() ?? '';
  await using eu = peerOf('eu', [await memberOf('eu'), await memberOf('us', [address])]).transport;
  try {
    await eu.start();
    await until('a failed dial', () => eu.peers()[0]?.lastError !== null);
    assert.is(eu.peers()[0]?.connected, false);
    assert.is(stranger.getConnections().length, 0);
  } finally {
    await stranger.stop();
  }
});

test('a member that floods subscriptions is held to the federation’s three topics', async () => {
  await using stage = await scene('eu');
  const { honest, hostile, honestId } = stage;
  for (let round = 0; round < 10; round += 1) {
    const subscriptions = Array.from({ length: 2000 }, (_, i) => ({ subscribe: true, topic: `flood-${round}-${i}` }));
    sendRpc(hostile, honestId, { subscriptions });
  }
  const few = Array.from({ length: 20 }, (_, i) => ({ subscribe: true, topic: `few-${i}` }));
  sendRpc(hostile, honestId, { subscriptions: few });
  await hostile.services.pubsub.publish(BATCH, Buffer.from('still here'));
  await until('a message after the flood', () => honest.received.length === 1);
  assert.equal(honest.transport.peers()[0]?.subscribed, ['batch', 'checkpoint', 'keys']);
});

test('an oversize message of a member goes to nobody, and the next one arrives', async () => {
  await using stage = await scene('eu');
  await stage.hostile.services.pubsub.publish(BATCH, new Uint8Array(65 * 1024));
  await stage.hostile.services.pubsub.publish(BATCH, Buffer.from('small'));
  await until('the small one', () => stage.honest.received.length > 0);
  assert.equal(
    stage.honest.received.map(({ text }) => text),
    ['small'],
  );
});

test('messages beyond what may be judged at once are ignored, and come again to nobody’s blame', async () => {
  const { promise: go, resolve: letGo } = Promise.withResolvers<void>();
  const receive = async () => {
    await go;
    return 'accept' as const;
  };
  await using stage = await scene('eu', { receive, limits: { validationsInFlight: 2 } });
  for (let i = 0; i < 6; i += 1) await stage.hostile.services.pubsub.publish(BATCH, Buffer.from(`message ${i}`));
  await until('two under judgement', () => stage.honest.received.length === 2);
  letGo();
  await until('a free place', () => {
    void stage.hostile.services.pubsub.publish(BATCH, Buffer.from(`later ${performance.now()}`));
    return stage.honest.received.length > 2;
  });
  assert.ok((stage.honest.transport.peers()[0]?.score ?? -1) >= 0);
});

test('a receiver that throws neither blames the sender nor stops gossip', async () => {
  let calls = 0;
  const receive = () => {
    calls += 1;
    if (calls === 1) throw new Error('a bug');
    return 'accept' as const;
  };
  await using stage = await scene('eu', { receive });
  await stage.hostile.services.pubsub.publish(BATCH, Buffer.from('one'));
  await stage.hostile.services.pubsub.publish(BATCH, Buffer.from('two'));
  await until('both', () => calls === 2);
  assert.ok((stage.honest.transport.peers()[0]?.score ?? -1) >= 0);
});

test('a peer whose gossip died while its connection lives is hung up by the watchdog', async () => {
  await using stage = await scene('eu', { limits: { unsubscribedMost: 400 } });
  const { honest, hostile, honestId } = stage;
  const went: string[] = [];
  honest.transport.onDisconnect((node) => went.push(node));
  // The length of a frame of 5 MiB: the receiver's gossip stream ends, and the sender is told nothing.
  sendRaw(hostile, honestId, Uint8Array.from([0x80, 0x80, 0xc0, 0x02, 0]));
  await until('the end of gossip', () => honest.transport.peers()[0]?.subscribed.length === 0);
  assert.is(went.length, 0);
  await until('the watchdog', () => went.length === 1);
  const addresses = honest.transport.addresses().map((address) => multiaddr(address));
  let dialling = false;
  await until('gossip again', () => {
    // On a busy machine it learns late that it was hung up, and the watchdog may hang up once more.
    if (!dialling && hostile.getConnections().length === 0) {
      dialling = true;
      hostile
        .dial(addresses)
        .catch(() => undefined)
        .finally(() => {
          dialling = false;
        });
    }
    void hostile.services.pubsub.publish(BATCH, Buffer.from(`recovered ${performance.now()}`));
    return honest.received.length > 0;
  });
});

test('answers cut short, garbled or refused with nonsense are never taken for complete', async () => {
  await using stage = await scene('eu', { limits: { frameTimeout: 2_000, firstFrameTimeout: 2_000 } });
  const frame = [0, 0, 0, 0, 1, 65];
  const answers: Record<string, { bytes: number[]; close: boolean; code: string }> = {
    nothing: { bytes: [], close: true, code: 'cut' },
    'no end marker': { bytes: frame, close: true, code: 'cut' },
    'half a frame': { bytes: [0, 0, 0, 0, 9, 65], close: true, code: 'cut' },
    'half a header': { bytes: [...frame, 0, 0], close: true, code: 'cut' },
    'an unknown kind': { bytes: [99, 0, 0, 0, 0], close: true, code: 'malformed' },
    'an end with a body': { bytes: [1, 0, 0, 0, 1, 65], close: true, code: 'malformed' },
    'a huge length': { bytes: [0, 255, 255, 255, 255], close: true, code: 'too-large' },
    silence: { bytes: frame, close: false, code: 'timeout' },
  };
  let answer = answers['nothing'];
  await stage.hostile.handle(STATUS, async (stream) => {
    if (answer === undefined) return;
    if (answer.bytes.length > 0) stream.send(Uint8Array.from(answer.bytes));
    if (answer.close) await stream.close();
  });
  for (const [name, next] of Object.entries(answers)) {
    answer = next;
    assert.is(await codeOf(ask(stage.honest.transport, 'us', 'status', '')), next.code, name);
  }
});

test('a request that never comes, or is garbled, is ended by the server', async () => {
  let served = 0;
  await using stage = await scene('eu', { limits: { firstFrameTimeout: 200 } });
  stage.honest.transport.serve('status', async function* () {
    served += 1;
    yield Buffer.from('here');
  });
  const [connection] = stage.hostile.getConnections();
  for (const bytes of [[], [0, 0, 0], [7, 0, 0, 0, 0], [1, 0, 0, 0, 0], [0, 0, 255, 255, 255]]) {
    const stream = await connection?.newStream(STATUS);
    if (bytes.length > 0) stream?.send(Uint8Array.from(bytes));
    await until('the end of the stream', () => stream?.remoteWriteStatus === 'closed');
  }
  assert.is(served, 0);
});

test('a reader that stops reading is let go, and its place is free again', async () => {
  const limits = { frameTimeout: 300, answerBytes: 64 << 20, requestsInFlightPerPeer: 1 };
  await using stage = await scene('eu', { limits });
  let [made, open] = [0, 0];
  stage.honest.transport.serve('status', async function* () {
    open += 1;
    try {
      for (;;) {
        made += 64 * 1024;
        yield Buffer.alloc(64 * 1024);
      }
    } finally {
      open -= 1;
    }
  });
  const stream = await stage.hostile.getConnections()[0]?.newStream(STATUS);
  stream?.send(Uint8Array.from([0, 0, 0, 0, 0]));
  stream?.addEventListener('message', () => {
    if (stream.readStatus === 'readable') stream.pause();
  });
  await until('the server to begin', () => made > 0);
  await until('the server to give up', () => open === 0);
  assert.ok(made < 4 << 20, `${made} bytes were made for a reader that stopped`);
});

test.run();
