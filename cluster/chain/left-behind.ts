import { PeriodicTask } from '../../node/concurrency/periodic-task.ts';
import type { ChainClient } from './chain-client.ts';

/** A transaction that waits at two looks in a row was left behind. In milliseconds. */
const LOOK_MS = 1_000;

/**
 * Mines what a chain that mines each transaction at once has left in its pool: what came while it was told not to, and
 * what it may have missed, would wait there until another one comes. A chain that is told not to mine is left alone.
 * Looks until it is disposed.
 */
export class LeftBehind implements AsyncDisposable {
  readonly #client: ChainClient;
  readonly #task: PeriodicTask<void>;
  #didWait = false;

  constructor(client: ChainClient, lookMs = LOOK_MS) {
    this.#client = client;
    this.#task = new PeriodicTask(lookMs, () => this.#look());
    this.#task.start(lookMs);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#task[Symbol.asyncDispose]();
  }

  async #look(): Promise<void> {
    try {
      const { pending } = await this.#client.getTxpoolStatus();
      const isLeft = pending > 0 && this.#didWait && (await this.#client.getAutomine());
      if (isLeft) await this.#client.mine({ blocks: 1 });
      this.#didWait = pending > 0 && !isLeft;
    } catch {
      // Whether the chain has died is told elsewhere.
      this.#didWait = false;
    }
  }
}
