import type { AnchoringConfig } from './config.ts';
import type { Client, Sdk } from './hedera-sdk.ts';

/** Transactions are signed for so many nodes, each of which may be asked in turn. */
const NODES_PER_TRANSACTION = 3;
const GRPC_DEADLINE_MS = 2_500;
const REQUEST_TIMEOUT_MS = 8_000;
/** Above the SDK's own, in case it does not keep it. */
const CALL_DEADLINE_MS = 10_000;
const ATTEMPTS = 3;
const MIN_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 400;
/** The SDK shuns a node that failed for up to an hour; an outage of all would then outlast itself. */
const NODE_BACKOFF_MS = 1_000;

/** The SDK's client of a network's consensus nodes, without an operator. */
export function networkClient(sdk: Sdk, { network, nodes }: Pick<AnchoringConfig, 'network' | 'nodes'>): Client {
  const settings = { scheduleNetworkUpdate: false, grpcDeadline: GRPC_DEADLINE_MS, requestTimeout: REQUEST_TIMEOUT_MS };
  const client =
    nodes === undefined ? sdk.Client.forName(network, settings) : sdk.Client.forNetwork({ ...nodes }, settings);
  client
    .setMaxAttempts(ATTEMPTS)
    .setMaxNodesPerTransaction(NODES_PER_TRANSACTION)
    .setMinBackoff(MIN_BACKOFF_MS)
    .setMaxBackoff(MAX_BACKOFF_MS)
    .setNodeMinBackoff(MIN_BACKOFF_MS)
    .setNodeMaxBackoff(NODE_BACKOFF_MS)
    .setNodeMinReadmitPeriod(MIN_BACKOFF_MS)
    .setNodeMaxReadmitPeriod(NODE_BACKOFF_MS);
  // The mirror's gRPC is not used, and an address book update would call it.
  client.setMirrorNetwork([]);
  return client;
}

/**
 * The SDK cannot be interrupted: a call that outlasts the deadline or a signal goes on unheard. Rejects with the
 * reason.
 */
export async function bounded<Result>(
  call: Promise<Result>,
  signals: readonly (AbortSignal | undefined)[],
): Promise<Result> {
  const given = signals.filter((signal) => signal !== undefined);
  const end = AbortSignal.any([AbortSignal.timeout(CALL_DEADLINE_MS), ...given]);
  const ended = Promise.withResolvers<never>();
  const giveUp = (): void => ended.reject(end.reason);
  end.addEventListener('abort', giveUp, { once: true });
  try {
    if (end.aborted) giveUp();
    return await Promise.race([call, ended.promise]);
  } finally {
    end.removeEventListener('abort', giveUp);
  }
}
