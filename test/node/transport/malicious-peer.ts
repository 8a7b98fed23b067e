import { gossipsub } from '@chainsafe/libp2p-gossipsub';
import { identify } from '@libp2p/identify';
import { ping } from '@libp2p/ping';
import { tcp } from '@libp2p/tcp';
import { tls } from '@libp2p/tls';
import { yamux } from '@libp2p/yamux';
import { createLibp2p } from 'libp2p';
import type { GossipsubOpts } from '@chainsafe/libp2p-gossipsub';
import { peerKeyOfSeed } from '../../../node/transport/identity.ts';
import { ANY_PORT, seedOf } from './network.ts';

/** A libp2p node with a seed of our choice and none of our manners: no allow-list, no limits. */
export async function maliciousNode(name: string, gossip: Partial<GossipsubOpts> = {}) {
  return await createLibp2p({
    privateKey: await peerKeyOfSeed(seedOf(name)),
    addresses: { listen: [ANY_PORT] },
    transports: [tcp()],
    connectionEncrypters: [tls()],
    streamMuxers: [yamux()],
    services: {
      identify: identify(),
      ping: ping(),
      pubsub: gossipsub({ allowPublishToZeroTopicPeers: true, maxInboundDataLength: 64 << 20, ...gossip }),
    },
  });
}

export type MaliciousNode = Awaited<ReturnType<typeof maliciousNode>>;

/** Sends any RPC over the hostile node's gossip stream to a peer; the router's own type hides the way. */
export function sendRpc(node: MaliciousNode, peer: string, rpc: object): boolean {
  const router: object = node.services.pubsub;
  if (!('sendRpc' in router) || typeof router.sendRpc !== 'function') throw new Error('the router changed');
  return router.sendRpc(peer, { subscriptions: [], messages: [], ...rpc }) === true;
}

/** Writes any bytes to the hostile node's gossip stream to a peer, past the bounds of its own encoder. */
export function sendRaw(node: MaliciousNode, peer: string, bytes: Uint8Array) {
  const router: object = node.services.pubsub;
  const streams = 'streamsOutbound' in router ? router.streamsOutbound : null;
  const stream: unknown = streams instanceof Map ? streams.get(peer) : null;
  if (!hasPush(stream)) throw new Error('the router changed');
  stream.pushPrefixed(bytes);
}

function hasPush(stream: unknown): stream is { pushPrefixed(bytes: Uint8Array): void } {
  return typeof stream === 'object' && stream !== null && 'pushPrefixed' in stream;
}
