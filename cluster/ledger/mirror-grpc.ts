import { status } from '@grpc/grpc-js';
import type { ServerWritableStream, handleServerStreamingCall } from '@grpc/grpc-js';
import { com, proto } from '@hiero-ledger/proto';
import type { GrpcServer } from './grpc-server.ts';
import type { MirrorView } from './mirror-view.ts';
import { LEDGER_DESCRIPTION } from './network-name.ts';
import type { NetworkNode } from './network-name.ts';
import { TopicSubscription } from './topic-subscription.ts';
import { accountId, fromLong, fromTimestamp, toLong, topicNumber } from './wire.ts';

type StreamingMethod = handleServerStreamingCall<Buffer, Buffer>;

const { ConsensusTopicQuery } = com.hedera.mirror.api.proto;

/** Adds the mirror node's gRPC services: topic subscriptions and the address book. */
export function addMirror(server: GrpcServer, view: MirrorView, nodes: readonly NetworkNode[]): void {
  server.add('com.hedera.mirror.api.proto.ConsensusService', { subscribeTopic: subscription(view) }, true);
  server.add('com.hedera.mirror.api.proto.NetworkService', { getNodes: addressBook(view, nodes) }, true);
}

function subscription(view: MirrorView): StreamingMethod {
  return (call) => {
    if (view.isDown) return fail(call, status.UNAVAILABLE, 'the mirror is down');
    const query = ConsensusTopicQuery.decode(call.request);
    const topic = topicNumber(query.topicID) ?? 0n;
    if (!view.topic(topic)) return fail(call, status.NOT_FOUND, 'Topic does not exist');
    const limit = fromLong(query.limit);
    const subscribed = new TopicSubscription(view, call, {
      topic,
      from: query.consensusStartTime ? fromTimestamp(query.consensusStartTime) : view.horizon,
      until: query.consensusEndTime ? fromTimestamp(query.consensusEndTime) : null,
      limit: limit > 0n ? limit : null,
    });
    subscribed.run().catch(() => fail(call, status.INTERNAL, 'the subscription failed'));
  };
}

function addressBook(view: MirrorView, nodes: readonly NetworkNode[]): StreamingMethod {
  return (call) => {
    if (view.isDown) return fail(call, status.UNAVAILABLE, 'the mirror is down');
    for (const [index, { account, host, port }] of nodes.entries()) {
      const address: proto.INodeAddress = {
        nodeId: toLong(BigInt(index)),
        nodeAccountId: accountId(account),
        description: LEDGER_DESCRIPTION,
        serviceEndpoint: [{ ipAddressV4: Uint8Array.from(host.split('.').map(Number)), port }],
      };
      call.write(Buffer.from(proto.NodeAddress.encode(address).finish()));
    }
    call.end();
  };
}

/** Ends a stream with a status; a server stream of grpc-js takes it as an error event. */
function fail(call: ServerWritableStream<Buffer, Buffer>, code: status, details: string): void {
  call.emit('error', { code, details });
}
