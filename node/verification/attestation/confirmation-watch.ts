import type { Logger } from 'pino';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import { readBatchOf } from '../../records/batch-tables.ts';
import type { Store } from '../../store/store.ts';
import type { Status } from '../../../protocol/verdict/verdict.ts';
import type { Evidence } from '../evidence.ts';
import type { AnchoringView } from './anchoring-view.ts';

/** An own record that somebody waits for. */
type Awaited = Pick<AttestationRecord, 'id' | 'seq'>;

interface Waiting {
  readonly id: RecordId;
  readonly waiters: Set<() => void>;
}

/** Callers who wait for a record of this node to be confirmed. Costs nothing while nobody waits. */
export class Confirmations {
  readonly #waiting = new Map<number, Waiting>();

  /** The records that somebody waits for. */
  get awaited(): readonly Awaited[] {
    return [...this.#waiting].map(([seq, { id }]) => ({ seq, id }));
  }

  /** Records `first` … `first + size - 1` are confirmed. */
  note(first: number, size: number): void {
    for (const [seq, { waiters }] of this.#waiting) {
      if (seq < first || seq >= first + size) continue;
      this.#waiting.delete(seq);
      for (const wake of waiters) wake();
    }
  }

  /** Resolves when the record is confirmed, the time is up, or the signal ends the wait. */
  wait({ seq, id }: Awaited, milliseconds: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(seq) ?? { id, waiters: new Set() };
      const { waiters } = waiting;
      this.#waiting.set(seq, waiting);
      const finish = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', finish);
        waiters.delete(finish);
        if (waiters.size === 0 && this.#waiting.get(seq) === waiting) this.#waiting.delete(seq);
        resolve();
      };
      const timer = setTimeout(finish, milliseconds);
      signal.addEventListener('abort', finish);
      waiters.add(finish);
    });
  }
}

/** What a caller waits by. */
export interface ConfirmationWait {
  readonly confirmations: Pick<Confirmations, 'wait'>;
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  readonly view: Pick<AnchoringView, 'of'>;
}

/**
 * Resolves to the status of an own record once it is confirmed, the time (in milliseconds) is up, or the signal ends
 * the wait. Throws `RangeError` where the store has no such record.
 */
export async function waitForConfirmation(
  services: ConfirmationWait,
  record: Awaited,
  milliseconds: number,
  signal: AbortSignal,
): Promise<Status> {
  const confirmed = services.confirmations.wait(record, milliseconds, signal);
  // The record may have been confirmed before the wait began.
  if ((await statusOf(services, record.id)) === 'confirmed') return 'confirmed';
  await confirmed;
  return statusOf(services, record.id);
}

async function statusOf({ evidence, view }: ConfirmationWait, id: RecordId): Promise<Status> {
  const found = await evidence(id);
  if (found === undefined) throw new RangeError(`${id} is not in the store`);
  return (await view.of(found)).status;
}

export interface ConfirmationWatchOptions {
  readonly self: NodeId;
  readonly store: Store;
  readonly confirmations: Confirmations;
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  readonly view: Pick<AnchoringView, 'of'>;
  readonly log: Logger;
}

/**
 * Looks whether a record that somebody waits for is confirmed, whenever another checkpoint counts: before that it is
 * not, however much this node has read of the ledger itself.
 *
 * Ownership: `#looking` and `#again` belong to the one loop that `noteCounted` starts.
 */
export class ConfirmationWatch implements AsyncDisposable {
  readonly #options: ConfirmationWatchOptions;
  #looking: Promise<void> | undefined;
  #again = false;
  #isOver = false;

  constructor(options: ConfirmationWatchOptions) {
    this.#options = options;
  }

  /** Another checkpoint counts. */
  noteCounted(): void {
    this.#again = true;
    this.#wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#looking;
  }

  #wake(): void {
    if (this.#isOver) return;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
      // One that came after the loop's last look, and before this.
      if (this.#again) this.#wake();
    });
  }

  async #look(): Promise<void> {
    while (this.#again && !this.#isOver) {
      this.#again = false;
      try {
        await this.#lookAtBatches();
      } catch (error) {
        // Callers who wait are answered when their time is up.
        this.#options.log.warn({ err: error }, 'it could not be seen whether records are confirmed');
      }
    }
  }

  /** One record of each batch is looked at: a batch is confirmed as a whole. */
  async #lookAtBatches(): Promise<void> {
    const { confirmations, store, self } = this.#options;
    let end = 0;
    for (const { seq, id } of confirmations.awaited.toSorted((a, b) => a.seq - b.seq)) {
      if (seq < end) continue;
      const batch = await readBatchOf(store, self, seq);
      // Those after it are in no batch yet either.
      if (batch === undefined) return;
      const { first, size } = batch.envelope;
      end = first + size;
      if (await this.#isConfirmed(id)) confirmations.note(first, size);
    }
  }

  async #isConfirmed(id: RecordId): Promise<boolean> {
    const { evidence, view } = this.#options;
    const found = await evidence(id);
    if (found === undefined || found.decision === null) return false;
    return (await view.of(found)).status === 'confirmed';
  }
}
