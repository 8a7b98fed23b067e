import type { NodeId } from '../../protocol/ids.ts';
import type { Timestamp } from '../../protocol/time.ts';
import { readBatch, readHead } from '../records/batch-tables.ts';
import type { Reads } from '../store/store.ts';
import { decidedBatch } from './decided-batches.ts';
import type { FederationLog } from './federation-log.ts';

/** How long the ledger took to name a batch. */
export interface AnchoringTime {
  readonly batch: number;
  readonly sealedAt: Timestamp;
  /** From its sealing to the consensus time of its name, rounded up. */
  readonly seconds: number;
}

/**
 * Of the last batches of a node that the log has decided, the oldest first. Looks at twice as many batches as are asked
 * for: those that wait are left out.
 */
export async function anchoringTimes(
  store: Reads,
  log: Pick<FederationLog, 'batch'>,
  node: NodeId,
  most: number,
): Promise<readonly AnchoringTime[]> {
  const last = (await readHead(store, node))?.envelope.batch ?? 0;
  const times: AnchoringTime[] = [];
  for (let batch = last; batch > Math.max(0, last - 2 * most) && times.length < most; batch--) {
    const decided = await decidedBatch(log, node, batch);
    const sealedAt = decided && (await readBatch(store, node, batch))?.envelope.sealedAt;
    if (decided === undefined || sealedAt === undefined) continue;
    // Two clocks: the ledger's may be behind the node's.
    const seconds = Math.max(0, Math.ceil((Date.parse(decided.at) - Date.parse(sealedAt)) / 1_000));
    times.push({ batch, sealedAt, seconds });
  }
  return times.toReversed();
}
