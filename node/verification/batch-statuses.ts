import type { RecordId } from '../../protocol/ids.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { Status } from '../../protocol/verdict/verdict.ts';
import { type AnchoringView, waitingStatus } from './attestation/anchoring-view.ts';
import { readBatchOf, type StoredBatch } from '../records/batch-tables.ts';
import type { Store } from '../store/store.ts';
import { type Evidence, EvidenceDamagedError } from './evidence.ts';

export interface BatchStatusSources {
  readonly store: Store;
  readonly view: Pick<AnchoringView, 'of'>;
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
}

/**
 * Anchoring status of many records of this node. Records of one batch are anchored together, so it judges one of each.
 */
export class BatchStatuses {
  readonly #sources: BatchStatusSources;
  readonly #known: { readonly batch: StoredBatch; readonly status: Status }[] = [];

  constructor(sources: BatchStatusSources) {
    this.#sources = sources;
  }

  async of(record: AttestationRecord): Promise<Status> {
    const known = this.#known.find(({ batch }) => covers(batch, record));
    if (known !== undefined) return known.status;
    const batch = await readBatchOf(this.#sources.store, record.node, record.seq);
    if (batch === undefined) return waitingStatus(record);
    const status = await this.#statusOf(record);
    // One that waits may be damaged, which says nothing of the others.
    if (status !== waitingStatus(record)) this.#known.push({ batch, status });
    return status;
  }

  async #statusOf(record: AttestationRecord): Promise<Status> {
    const { evidence, view } = this.#sources;
    try {
      const found = await evidence(record.id);
      return found === undefined ? waitingStatus(record) : (await view.of(found)).status;
    } catch (error) {
      if (error instanceof EvidenceDamagedError) return waitingStatus(record);
      throw error;
    }
  }
}

function covers({ envelope: { first, size } }: StoredBatch, { seq }: AttestationRecord): boolean {
  return seq >= first && seq < first + size;
}
