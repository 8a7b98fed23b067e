import type { NodeId } from '../../protocol/ids.ts';
import { readBatchOf, type StoredBatch } from '../records/batch-tables.ts';
import type { Reads } from '../store/store.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { completedIn, decisionNaming, type Evidence, type EvidenceSources, type ReceivedRecord } from './evidence.ts';

/** Records of one batch, or of none while they are unsealed. */
interface Share {
  readonly batch: StoredBatch | undefined;
  readonly records: ReceivedRecord[];
}

/**
 * All evidence about several records that were read: of each batch that they are in envelope, decision and tiles are read
 * once. What cannot be read is told, record by record, and left out.
 */
export async function completedTogether(
  sources: EvidenceSources,
  all: readonly ReceivedRecord[],
  failed: (received: ReceivedRecord, error: unknown) => void,
): Promise<ReadonlyMap<ReceivedRecord, Evidence>> {
  const found = new Map<ReceivedRecord, Evidence>();
  const slices = new TimeSlices();
  const complete = async ({ batch, records }: Share): Promise<void> => {
    const decided = batch && { ...batch, decision: await decisionNaming(sources.decisionOf, batch) };
    // One after the other: the first has the trees built that the others take their paths from.
    for (const one of records) {
      if (slices.isOver) await slices.rest();
      try {
        found.set(one, await completedIn(sources, one, decided));
      } catch (error) {
        failed(one, error);
      }
    }
  };
  const ofNodes = Map.groupBy(all, ({ record }) => record.node);
  const shares = await Promise.all([...ofNodes].map(([node, records]) => shared(sources.store, node, records, failed)));
  await Promise.all(
    shares
      .flat()
      .map((share) => complete(share).catch((error: unknown) => share.records.forEach((one) => failed(one, error)))),
  );
  return found;
}

/** Records of one node by the batches that they are in: one is looked for only where the one before does not reach. */
async function shared(
  store: Reads,
  node: NodeId,
  records: readonly ReceivedRecord[],
  failed: (received: ReceivedRecord, error: unknown) => void,
): Promise<readonly Share[]> {
  const shares: Share[] = [];
  for (const one of records.toSorted((a, b) => a.record.seq - b.record.seq)) {
    const { seq } = one.record;
    const last = shares.at(-1);
    if (last !== undefined && reaches(last, seq)) {
      last.records.push(one);
      continue;
    }
    try {
      shares.push({ batch: await readBatchOf(store, node, seq), records: [one] });
    } catch (error) {
      failed(one, error);
    }
  }
  return shares;
}

function reaches({ batch }: Share, seq: number): boolean {
  return batch !== undefined && seq < batch.envelope.first + batch.envelope.size;
}
