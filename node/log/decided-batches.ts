import type { NodeId } from '../../protocol/ids.ts';
import { isRevoked } from '../../protocol/log/decision-state.ts';
import { timestampOfConsensus } from '../../protocol/time.ts';
import type { Decided } from './decidable.ts';
import type { OwnDecision } from './sealed-chain.ts';
import type { FederationLog } from './federation-log.ts';

/** What the log decided of a batch: the envelope's hash, and the consensus time. Undefined while it decided nothing. */
export async function decidedBatch(
  log: Pick<FederationLog, 'batch'>,
  node: NodeId,
  batch: number,
): Promise<OwnDecision | undefined> {
  const logged = await log.batch(node, batch);
  if (logged === undefined) return undefined;
  const { named, decision } = logged;
  return { envelope: named.envelope, at: timestampOfConsensus(decision.consensusTimestamp) };
}

/** What copies of other nodes' batches are judged by. `log` is called when something is asked. */
export function decidedBy(log: () => Pick<FederationLog, 'batch' | 'state'>): Decided {
  return {
    envelopeOf: async (node, batch) => (await decidedBatch(log(), node, batch))?.envelope,
    isRevoked: (node, keyId) => isRevoked(log().state, node, keyId),
  };
}
