import type { AnchoringStatus } from '../../protocol/bundle/verdict.ts';
import { hashText } from '../../protocol/hash.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { Anchoring } from '../anchoring/anchoring.ts';
import { type AnchoringView, waitingStatus } from '../attestation/anchoring-view.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { readBatchOf, type StoredBatch } from '../sealing/batch-tables.ts';
import type { Store } from '../store/store.ts';

export interface BatchStatusSources {
  readonly store: Store;
  readonly view: Pick<AnchoringView, 'of'>;
  readonly anchoring: Pick<Anchoring, 'anchorOf'>;
}

/** Anchoring status of many records of this node. Records of one batch are anchored together, so it asks once a batch. */
export class BatchStatuses {
  readonly #sources: BatchStatusSources;
  readonly #known: { readonly batch: StoredBatch; readonly direct: boolean; readonly status: AnchoringStatus }[] = [];

  constructor(sources: BatchStatusSources) {
    this.#sources = sources;
  }

  async of(record: AttestationRecord): Promise<AnchoringStatus> {
    const direct = waitingStatus(record) === 'pending';
    const known = this.#known.find((entry) => entry.direct === direct && covers(entry.batch, record));
    if (known !== undefined) return known.status;
    const { store, view, anchoring } = this.#sources;
    const batch = await readBatchOf(store, record.node, record.seq);
    if (batch === undefined) return waitingStatus(record);
    const { node, batch: number } = batch.envelope;
    const anchor = await anchoring.anchorOf(node, number, hashText(nativeSuite, batch.signed.statement));
    const { status } = await view.of({ record, batch, bundle: { anchor: anchor ?? null } });
    this.#known.push({ batch, direct, status });
    return status;
  }
}

function covers({ envelope: { first, size } }: StoredBatch, { seq }: AttestationRecord): boolean {
  return seq >= first && seq < first + size;
}
