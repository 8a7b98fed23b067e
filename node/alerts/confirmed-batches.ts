import type { AlertEvent } from '../../protocol/api/webhooks.ts';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { lastBatchBefore, readBatch, type StoredBatch } from '../records/batch-tables.ts';
import { readRecordTexts, tryOpenRecord } from '../records/record-reader.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import type { AnchoringView } from '../verification/attestation/anchoring-view.ts';
import { anchorExpectedBy } from '../verification/attestation/attestation-answer.ts';
import { type Evidence, EvidenceDamagedError } from '../verification/evidence.ts';
import type { Alerts } from './alerts.ts';
import { toldBatchTable } from './webhook-tables.ts';

/** Batches that one look goes through. */
const MAX_BATCHES = 100;

export interface ConfirmedBatchesOptions {
  readonly store: Store;
  readonly node: NodeId;
  readonly alerts: Pick<Alerts, 'listeners' | 'operations' | 'tell' | 'write'>;
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  readonly view: Pick<AnchoringView, 'of'>;
  readonly now: () => number;
}

/**
 * Tells accounts of their records that are confirmed, own batch after own batch: the deliveries of a batch and how far
 * batches were told of are one write, so that each is told of once.
 */
export class ConfirmedBatches {
  readonly #options: ConfirmedBatchesOptions;
  /** The last batch that was told of as delayed. After a restart they are looked at again, and told of once. */
  #delayed = 0;

  constructor(options: ConfirmedBatchesOptions) {
    this.#options = options;
  }

  /** Tells of each batch that is confirmed up to the first that is not, and of those from there on that are late. */
  async look(): Promise<void> {
    const { store, node, alerts } = this.#options;
    const listeners = alerts.listeners('record.confirmed', 'anchor.delayed');
    const told = await toldBatchTable.get(store, node);
    if (listeners.size === 0) {
      if (told !== undefined) await alerts.write(async () => [toldBatchTable.del(node)]);
      return;
    }
    let number = told ?? (await lastBatchBefore(store, node, Math.min(...listeners.values())));
    let isBehind = false;
    for (let batches = 0; batches < MAX_BATCHES; batches++) {
      number++;
      const batch = await readBatch(store, node, number);
      if (batch === undefined) return;
      const first = await this.#firstOf(batch);
      if (first === undefined) return;
      const isConfirmed = await this.#isConfirmed(first.id);
      if (isConfirmed && !isBehind) await this.#tellConfirmed(batch, number);
      if (isConfirmed) continue;
      isBehind = true;
      if (anchorExpectedBy(first) > this.#options.now()) return;
      if (number > this.#delayed) await this.#tellDelayed(batch, number);
      number = Math.max(number, this.#delayed);
    }
  }

  async #tellDelayed(batch: StoredBatch, number: number): Promise<void> {
    const { sealedAt } = batch.envelope;
    const event = 'anchor.delayed';
    for (const [account, attestationIds] of await this.#idsByAccount(batch, event)) {
      const data = { batch: number, sealedAt, attestationIds };
      await this.#options.alerts.tell({ account, event, subject: String(number), data });
    }
    this.#delayed = number;
  }

  async #tellConfirmed(batch: StoredBatch, number: number): Promise<void> {
    const { node, alerts } = this.#options;
    const event = 'record.confirmed';
    await alerts.write(async () => {
      const operations: Operation[] = [toldBatchTable.put([node], number)];
      for (const [account, attestationIds] of await this.#idsByAccount(batch, event)) {
        const data = { batch: number, attestationIds };
        operations.push(...(await alerts.operations({ account, event, subject: String(number), data })));
      }
      return operations;
    });
  }

  /** Records of accounts that listen, since they do. */
  async #idsByAccount({ envelope: { first, size } }: StoredBatch, event: AlertEvent) {
    const { store, node, alerts } = this.#options;
    const listeners = alerts.listeners(event);
    const ids = new Map<string, RecordId[]>();
    if (listeners.size === 0) return ids;
    const slices = new TimeSlices();
    for await (const texts of readRecordTexts(store, node, first, size)) {
      if (slices.isOver) await slices.rest();
      const record = tryOpenRecord(texts);
      const since = record === undefined ? undefined : listeners.get(record.account);
      if (record === undefined || since === undefined || Date.parse(record.submittedAt) < since) continue;
      const own = ids.get(record.account) ?? [];
      own.push(record.id);
      ids.set(record.account, own);
    }
    return ids;
  }

  async #firstOf({ envelope: { first } }: StoredBatch) {
    const { store, node } = this.#options;
    for await (const texts of readRecordTexts(store, node, first, 1)) return tryOpenRecord(texts);
    return undefined;
  }

  async #isConfirmed(id: RecordId): Promise<boolean> {
    const { evidence, view } = this.#options;
    try {
      const found = await evidence(id);
      if (found === undefined || found.decision === null) return false;
      return (await view.of(found)).status === 'confirmed';
    } catch (error) {
      // A damaged record says nothing of its batch: `fsck` finds it.
      if (error instanceof EvidenceDamagedError) return false;
      throw error;
    }
  }
}
