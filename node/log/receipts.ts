import { setTimeout as sleep } from 'node:timers/promises';
import type { TransactionId } from '../ledger/ledger-client.ts';
import type { ConsensusSource } from '../topic/consensus-source.ts';
import type { TopicPoint } from '../topic/topic-point.ts';

/** Pause between two questions for one receipt. It is there within seconds of the transaction. In milliseconds. */
const PAUSE_MS = 250;
/** Consensus nodes keep receipts for three minutes; one that has not come after this is not waited for. In milliseconds. */
const PATIENCE_MS = 60_000;
/** Receipts that are asked for at once. A later one says all that an earlier one did. */
const MAX_ASKED = 16;

export interface ReceiptsOptions {
  readonly consensus: Pick<ConsensusSource, 'receipt'>;
  /** Where a message of this node landed, by the word of a consensus node. */
  readonly onReceipt: (point: TopicPoint) => void;
}

/** Asks consensus nodes where this node's own messages landed: a second source for all that came before them. */
export class Receipts implements AsyncDisposable {
  readonly #options: ReceiptsOptions;
  readonly #closing = new AbortController();
  readonly #asking = new Set<Promise<void>>();

  constructor(options: ReceiptsOptions) {
    this.#options = options;
  }

  /** A consensus node has taken a transaction of this node. */
  expect(id: TransactionId): void {
    if (this.#asking.size >= MAX_ASKED || this.#closing.signal.aborted) return;
    const asking = this.#ask(id).finally(() => this.#asking.delete(asking));
    this.#asking.add(asking);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#asking);
  }

  async #ask(id: TransactionId): Promise<void> {
    const { signal } = this.#closing;
    const until = performance.now() + PATIENCE_MS;
    while (!signal.aborted && performance.now() < until) {
      const point = await this.#options.consensus.receipt(id, signal);
      if (point !== null) {
        this.#options.onReceipt(point);
        return;
      }
      await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
