import type { OversightItem } from '../../../protocol/api/oversight.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { type NodeId, nodeOfRecord } from '../../../protocol/ids.ts';
import type { Logger } from 'pino';
import { PeriodicTask } from '../../concurrency/periodic-task.ts';
import { TimeSlices } from '../../concurrency/time-slices.ts';
import { lastBatchBefore, readBatch, type StoredBatch } from '../../records/batch-tables.ts';
import { readOwnRecord, readRecord, readRecordTexts, tryOpenRecord } from '../../records/record-reader.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import type { Reviews } from '../reviews.ts';
import { isChosen, overseenBatchTable, type Waiting, waitingTable } from './oversight-tables.ts';
import { personsOf, type Policies } from './policies.ts';

/** Between two looks for new batches. In milliseconds. */
const LOOK_MS = 2_000;
/** Batches that one look goes through. */
const MAX_BATCHES = 100;
/** Rows that one page looks at. */
const MAX_LOOKED_AT = 500;

export interface OversightQueueOptions {
  readonly store: Store;
  readonly node: NodeId;
  readonly policies: Policies;
  readonly reviews: Pick<Reviews, 'counted'>;
  readonly log: Logger;
}

export interface OversightFilter {
  readonly account: string;
  readonly accepts: (record: AttestationRecord) => boolean;
  /** Seq of the last item of the page before. */
  readonly after: number | undefined;
  readonly limit: number;
}

export interface OversightPage {
  readonly items: readonly OversightItem[];
  /** Seq that the next page starts after; undefined at the end. */
  readonly next: number | undefined;
}

/**
 * The decisions that people have to look at, until enough of them have. Own batches are held against the policies one
 * after the other: what waits by a batch, and how far batches were looked at, are one write.
 */
export class OversightQueue implements AsyncDisposable {
  readonly #options: OversightQueueOptions;
  readonly #task: PeriodicTask<void>;

  constructor(options: OversightQueueOptions) {
    this.#options = options;
    this.#task = new PeriodicTask(LOOK_MS, () =>
      this.#look().catch((error: unknown) => options.log.warn({ err: error }, 'oversight could not go on')),
    );
  }

  start(): void {
    this.#task.start();
  }

  /** Goes through the batches that were sealed since the last look. */
  look(): Promise<void> {
    return this.#task.now();
  }

  /** What waits, the oldest first. A page may be short, or empty, and still lead to another one. */
  async page({ account, accepts, after, limit }: OversightFilter): Promise<OversightPage> {
    const { store, policies } = this.#options;
    const items: OversightItem[] = [];
    let looked = 0;
    let last = after;
    const range = after === undefined ? {} : { after };
    for await (const [[seq = ''], row] of waitingTable.under(store, [account], range)) {
      if (looked++ >= MAX_LOOKED_AT || items.length >= limit) return { items, next: last };
      last = Number(seq);
      const waiting = policies.still(account, row);
      const record = waiting && (await readRecord(store, waiting.attestationId))?.record;
      if (waiting === undefined || record === undefined || !accepts(record)) continue;
      const counts = await this.#options.reviews.counted(record);
      // Reviews by other nodes arrive without a batch of this one.
      if (counts.distinctReviewers >= waiting.persons) continue;
      const { id: attestationId, sourceId, submittedAt } = record;
      const { policies: by, persons } = waiting;
      items.push({ attestationId, sourceId, submittedAt, policies: [...by], persons, ...counts });
    }
    return { items, next: undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#task[Symbol.asyncDispose]();
  }

  async #look(): Promise<void> {
    const { store, node, policies } = this.#options;
    const { since } = policies;
    const seen = await overseenBatchTable.get(store, node);
    if (since === undefined) {
      if (seen !== undefined) await store.write([overseenBatchTable.del(node)]);
      return;
    }
    let number = seen ?? (await lastBatchBefore(store, node, since));
    for (let batches = 0; batches < MAX_BATCHES && !this.#task.signal.aborted; batches++) {
      const batch = await readBatch(store, node, ++number);
      if (batch === undefined) return;
      await store.write([overseenBatchTable.put([node], number), ...(await this.#rowsOf(batch))]);
    }
  }

  async #rowsOf({ envelope: { first, size } }: StoredBatch): Promise<readonly Operation[]> {
    const { store, node } = this.#options;
    const slices = new TimeSlices();
    const found = new Map<number, { readonly account: string; readonly row: Waiting }>();
    const done: Operation[] = [];
    for await (const texts of readRecordTexts(store, node, first, size)) {
      if (slices.isOver) await slices.rest();
      const record = tryOpenRecord(texts);
      if (record === undefined) continue;
      const row = this.#chosen(record);
      if (row !== undefined) found.set(record.seq, { account: record.account, row });
      const { original } = record.links;
      if (record.kind !== 'human_override' || original === undefined || nodeOfRecord(original) !== node) continue;
      const reviewed = await readOwnRecord(store, node, original);
      const waiting = reviewed && (found.get(reviewed.seq)?.row ?? (await this.#waiting(reviewed)));
      if (reviewed === undefined || waiting === undefined) continue;
      const { distinctReviewers } = await this.#options.reviews.counted(reviewed);
      if (distinctReviewers < waiting.persons) continue;
      found.delete(reviewed.seq);
      done.push(waitingTable.del(reviewed.account, reviewed.seq));
    }
    return [...found.entries().map(([seq, { account, row }]) => waitingTable.put([account, seq], row)), ...done];
  }

  #chosen(record: AttestationRecord): Waiting | undefined {
    const policies = this.#options.policies.list(record.account).filter((policy) => isChosen(policy, record));
    if (policies.length === 0) return undefined;
    return { attestationId: record.id, policies: policies.map(({ id }) => id), persons: personsOf(policies) };
  }

  /** Of a record that the account may have made elsewhere, or that nobody has to look at: undefined. */
  #waiting({ account, seq }: AttestationRecord): Promise<Waiting | undefined> {
    return waitingTable.get(this.#options.store, account, seq);
  }
}
