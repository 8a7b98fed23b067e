import { gossipsub } from '@chainsafe/libp2p-gossipsub';
import { identify } from '@libp2p/identify';
import { ping } from '@libp2p/ping';
import { tcp } from '@libp2p/tcp';
import { tls } from '@libp2p/tls';
import { yamux } from '@libp2p/yamux';
import { createLibp2p } from 'libp2p';
import type { GossipSub } from '@chainsafe/libp2p-gossipsub';
import type { Identify } from '@libp2p/identify';
import type { ConnectionGater, Ed25519PrivateKey } from '@libp2p/interface';
import type { Ping } from '@libp2p/ping';
import type { Libp2p } from 'libp2p';
import { gossipOptions } from './gossip-options.ts';
import type { TransportLimits } from './limits.ts';

/** Above all that a protocol or the flood guard admits, so that one too many is told so, and noted. */
const STREAMS_PER_CONNECTION = 384;
const STREAM_WINDOW_BYTES = 1024 * 1024;

export type MeridianNode = Libp2p<{ identify: Identify; ping: Ping; pubsub: GossipSub }>;

export interface NodeOptions {
  readonly key: Ed25519PrivateKey;
  readonly listen: readonly string[];
  readonly gater: ConnectionGater;
  readonly topics: readonly string[];
  readonly limits: Readonly<TransportLimits>;
}

/**
 * An unstarted libp2p node. TLS 1.3 is the only encrypter: Node 24 negotiates X25519MLKEM768 there, where noise is
 * classical. No peer routing, no relay: addresses come from the roster alone.
 */
export function createNode({ key, listen, gater, topics, limits }: NodeOptions): Promise<MeridianNode> {
  return createLibp2p({
    start: false,
    privateKey: key,
    addresses: { listen: [...listen] },
    transports: [tcp({ maxConnections: limits.connections + limits.handshakes })],
    connectionEncrypters: [tls()],
    streamMuxers: [
      yamux({
        maxInboundStreams: STREAMS_PER_CONNECTION,
        streamOptions: { maxStreamWindowSize: STREAM_WINDOW_BYTES },
      }),
    ],
    connectionGater: gater,
    connectionManager: {
      maxConnections: limits.connections,
      maxIncomingPendingConnections: limits.handshakes,
      inboundConnectionThreshold: limits.handshakeRatePerAddress,
      inboundUpgradeTimeout: limits.handshakeTimeout,
      dialTimeout: limits.dialTimeout,
    },
    connectionMonitor: {
      pingInterval: limits.pingInterval,
      pingTimeout: { minTimeout: limits.pingTimeout },
    },
    services: { identify: identify(), ping: ping(), pubsub: gossipsub(gossipOptions(topics)) },
  });
}
