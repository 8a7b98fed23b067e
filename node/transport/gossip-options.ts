import { createHash } from 'node:crypto';
import type { GossipsubOpts } from '@chainsafe/libp2p-gossipsub';

/**
 * A gossip frame over this silently ends its sender's gossip at the receiver, while the sender's publish still reports
 * recipients. Far above any honest frame; messages are capped on their own.
 */
const RPC_BYTES = 4 * 1024 * 1024;
/** Unsent gossip to one peer; a frozen peer's stream is aborted here rather than growing our memory. */
const UNSENT_BYTES = 16 * 1024 * 1024;
/** Nothing is heard of a peer below this: of some seven messages whose signatures do not hold. */
export const GRAYLIST_SCORE = -400;
/** Signature bytes that tell two copies of one message apart from two messages. */
const FAST_ID_BYTES = 24;
/** Bounds on what one peer's control messages may make us decode. */
const DECODE_LIMITS = {
  maxSubscriptions: 32,
  maxMessages: 1000,
  maxIhaveMessageIDs: 5000,
  maxIwantMessageIDs: 5000,
  maxIdontwantMessageIDs: 512,
  maxControlMessages: 500,
  maxPeerInfos: 16,
};

/** Gossipsub for a small federation whose members are few, known, and all to be reached by every message. */
export function gossipOptions(topics: readonly string[]): Partial<GossipsubOpts> {
  return {
    globalSignaturePolicy: 'StrictSign',
    emitSelf: false,
    fallbackToFloodsub: false,
    doPX: false,
    floodPublish: true,
    D: 4,
    Dlo: 4,
    Dhi: 8,
    Dscore: 2,
    Dout: 1,
    Dlazy: 4,
    // A message published to nobody stays unseen, so that it can be published again when somebody comes.
    allowPublishToZeroTopicPeers: false,
    ignoreDuplicatePublishError: true,
    allowedTopics: [...topics],
    maxInboundDataLength: RPC_BYTES,
    maxOutboundBufferSize: UNSENT_BYTES,
    decodeRpcLimits: DECODE_LIMITS,
    msgIdFn: ({ topic, data }) => createHash('sha256').update(topic).update('\0').update(data).digest(),
    // Without it the signature of every duplicate is checked. A message without a signature is refused later anyway.
    fastMsgIdFn: ({ topic, signature }) =>
      `${topic}${Buffer.from((signature ?? new Uint8Array()).subarray(0, FAST_ID_BYTES)).toString('latin1')}`,
    scoreParams: scoring(topics),
    scoreThresholds: {
      gossipThreshold: -100,
      publishThreshold: -200,
      graylistThreshold: GRAYLIST_SCORE,
      acceptPXThreshold: 1000,
      opportunisticGraftThreshold: 1,
    },
  };
}

/**
 * Scores are for watching; the allow-list keeps out. No penalty for slow mesh delivery (regions differ) nor for a
 * shared address (nodes behind one proxy), and a mild one for invalid messages, because forwarders are punished with
 * authors.
 */
function scoring(topics: readonly string[]): NonNullable<GossipsubOpts['scoreParams']> {
  const topic = {
    topicWeight: 1,
    timeInMeshWeight: 0.03,
    timeInMeshQuantum: 1000,
    timeInMeshCap: 300,
    firstMessageDeliveriesWeight: 1,
    firstMessageDeliveriesDecay: 0.99,
    firstMessageDeliveriesCap: 50,
    meshMessageDeliveriesWeight: 0,
    meshMessageDeliveriesDecay: 0.97,
    meshMessageDeliveriesCap: 10,
    meshMessageDeliveriesThreshold: 1,
    meshMessageDeliveriesWindow: 2000,
    meshMessageDeliveriesActivation: 60_000,
    meshFailurePenaltyWeight: 0,
    meshFailurePenaltyDecay: 0.97,
    invalidMessageDeliveriesWeight: -10,
    invalidMessageDeliveriesDecay: 0.99,
  };
  return {
    appSpecificScore: () => 0,
    IPColocationFactorWeight: 0,
    behaviourPenaltyWeight: -10,
    behaviourPenaltyThreshold: 6,
    behaviourPenaltyDecay: 0.9,
    decayInterval: 1000,
    decayToZero: 0.01,
    retainScore: 3_600_000,
    topicScoreCap: 50,
    topics: Object.fromEntries(topics.map((name) => [name, topic])),
  };
}
