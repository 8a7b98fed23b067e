import type { Logger } from 'pino';
import type { NodeId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { readHead, type StoredBatch } from '../../records/batch-tables.ts';
import type { Store } from '../../store/store.ts';
import { type OwnChainEnd, readRestorations, restorationTable } from './restoration-table.ts';

export interface SettleOptions {
  readonly store: Store;
  readonly self: NodeId;
  /** Members that told how far they hold the chain. */
  readonly peers: readonly NodeId[];
  /** Sequence number up to which the ledger's topic was read. */
  readonly sequence: number;
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * Notes in a store that is a restored copy what its node's chain turned out to be, for the operator. From then on it is the
 * node's own again. Any other store is left as it is.
 */
export async function settleRestorations({ store, self, peers, sequence, now, log }: SettleOptions): Promise<void> {
  const open = (await readRestorations(store, self)).filter(({ settled }) => settled === null);
  if (open.length === 0) return;
  const head = await readHead(store, self);
  const settled = {
    at: timestampOf(now()),
    end: endOf(head),
    sealedAt: head?.envelope.sealedAt ?? null,
    peers: [...peers],
    sequence: String(sequence),
  };
  await store.write(open.map((row) => restorationTable.put([self, row.takenAt], { ...row, settled })));
  log.warn(
    { copies: open.map(({ takenAt, held }) => ({ takenAt, held })), end: settled.end, sealedAt: settled.sealedAt },
    'a restored copy is this node again; records that were acknowledged after its last batch was sealed are lost',
  );
}

function endOf(head: StoredBatch | undefined): OwnChainEnd {
  if (head === undefined) return { batch: 0, next: 1 };
  const { batch, first, size } = head.envelope;
  return { batch, next: first + size };
}
