import { multiaddr } from '@multiformats/multiaddr';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dataFrame } from '../../../node/transport/frames.ts';
import { peerIdOfSeed } from '../../../node/transport/identity.ts';
import { type MaliciousNode, maliciousNode, sendRpc } from './malicious-peer.ts';
import { DIGEST, memberOf, type Peer, peerOf } from './network.ts';
import { until } from '../../fixtures/until.ts';

const BATCH = `/meridian/${DIGEST}/batch/1`;
const STATUS = `/meridian/${DIGEST}/status/1`;
const TOPICS = ['batch', 'checkpoint', 'keys'].map((topic) => `/meridian/${DIGEST}/${topic}/1`);
const KEPT_OUT = 4_000;
const FRAME = 500;
const PATIENCE = 15_000;

interface Scene extends AsyncDisposable {
  readonly honest: Peer;
  /** Holds the identity of member `us`. */
  readonly hostile: MaliciousNode;
  readonly honestId: string;
  readonly faults: string[];
  readonly address: ReturnType<typeof multiaddr>;
}

/** An honest node, and a member that keeps none of the rules; the hostile one has dialled. */
async function scene(): Promise<Scene> {
  const members = [await memberOf('eu'), await memberOf('us')];
  const faults: string[] = [];
  const onFault = (node: string, fault: string) => void faults.push(`${node}/${fault}`);
  const honest = peerOf('eu', members, { limits: { keptOut: KEPT_OUT, refusalBurstPerPeer: 50 }, onFault });
  honest.transport.serve('status', async function* () {
    yield await new Promise<Uint8Array>((resolve) => setTimeout(() => resolve(new Uint8Array(1)), 200));
  });
  await honest.transport.start();
  const hostile = await maliciousNode('us');
  for (const topic of TOPICS) hostile.services.pubsub.subscribe(topic);
  const address = multiaddr(honest.transport.addresses()[0] ?? '');
  const dispose = async () => {
    await hostile.stop();
    await honest.transport[Symbol.asyncDispose]();
  };
  const honestId = await peerIdOfSeed(honest.seed);
  const stage = { honest, hostile, honestId, faults, address, [Symbol.asyncDispose]: dispose };
  await meet(stage);
  return stage;
}

async function meet({ honest, hostile, address }: Scene): Promise<void> {
  await hostile.dial(address);
  const bothWays = () =>
    honest.transport.peers()[0]?.subscribed.length === 3 &&
    TOPICS.every((topic) => hostile.services.pubsub.getSubscribers(topic).length === 1);
  await until('gossip both ways', bothWays);
}

function isConnected({ honest }: Scene): boolean {
  return honest.transport.peers()[0]?.connected === true;
}

/** A message as the hostile node would send it. */
async function message({ hostile }: Scene): Promise<object> {
  const router: object = hostile.services.pubsub;
  if (!('sendRpc' in router) || typeof router.sendRpc !== 'function') throw new Error('the router changed');
  const send = router.sendRpc.bind(router);
  let caught: object | undefined;
  router.sendRpc = (_peer: string, { messages }: { messages?: object[] }) => {
    caught ??= messages?.[0];
    return true;
  };
  await hostile.services.pubsub.publish(BATCH, crypto.getRandomValues(new Uint8Array(8)));
  router.sendRpc = send;
  if (caught === undefined) throw new Error('nothing was published');
  return caught;
}

/** Sends frames until it is hung up. */
async function flood(stage: Scene, messages: () => object[]): Promise<void> {
  const deadline = performance.now() + PATIENCE;
  while (isConnected(stage)) {
    assert.ok(performance.now() < deadline, 'not hung up');
    sendRpc(stage.hostile, stage.honestId, { messages: messages() });
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

test('who sends one message over and over is hung up, kept out, and let in again', async () => {
  await using stage = await scene();
  const one = await message(stage);
  await flood(stage, () => Array.from({ length: FRAME }, () => one));
  const hungUp = performance.now();
  assert.equal([...new Set(stage.faults)], ['us/flood']);
  assert.ok(stage.honest.received.length <= 1);
  await stage.hostile.dial(stage.address).catch(() => undefined);
  await until('to be dropped again', () => !isConnected(stage) && stage.hostile.getConnections().length === 0);
  assert.ok(performance.now() - hungUp < KEPT_OUT, 'dropped while it was kept out');
  await new Promise((resolve) => setTimeout(resolve, KEPT_OUT));
  await meet(stage);
  const heard = stage.honest.received.length;
  await stage.hostile.services.pubsub.publish(BATCH, Buffer.from('sorry'));
  await until('the next message', () => stage.honest.received.length > heard);
});

test('who sends messages whose signatures do not hold is noted and hung up', async () => {
  await using stage = await scene();
  const one = await message(stage);
  const forged = () => ({ ...one, signature: crypto.getRandomValues(new Uint8Array(64)) });
  await flood(stage, () => Array.from({ length: 10 }, forged));
  assert.equal([...new Set(stage.faults)].toSorted(), ['us/flood', 'us/malformed']);
});

test('who opens streams and says nothing on them is noted and hung up', async () => {
  await using stage = await scene();
  const [connection] = stage.hostile.getConnections();
  const open = async () => {
    while (isConnected(stage)) {
      try {
        await connection?.newStream(STATUS, { maxOutboundStreams: 1e9 });
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
  };
  await Promise.all(Array.from({ length: 50 }, open));
  assert.equal([...new Set(stage.faults)], ['us/flood']);
});

test('who asks for more pages at once than any honest member, again and again, is noted and hung up', async () => {
  await using stage = await scene();
  const [connection] = stage.hostile.getConnections();
  const ask = async () => {
    while (isConnected(stage)) {
      try {
        const stream = await connection?.newStream(STATUS, { maxOutboundStreams: 1e9 });
        const closed = new Promise((resolve) => stream?.addEventListener('close', resolve, { once: true }));
        stream?.send(dataFrame(new Uint8Array()));
        await closed;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
  };
  await Promise.all(Array.from({ length: 50 }, ask));
  assert.equal([...new Set(stage.faults)], ['us/flood']);
});

test.run();
