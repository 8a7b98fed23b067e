import type { Nanos } from './consensus-time.ts';
import { MAX_VALIDITY } from './precheck.ts';
import type { SignedTransaction } from './transaction.ts';

/**
 * The transactions that could still be sent again: those waiting for consensus, and the ids of those that reached it
 * and could still be valid. An id is forgotten when its consensus, and so its start, is further back than any validity
 * lasts: from then on the precheck refuses it as expired, so memory is bounded by the traffic of 180 seconds.
 */
export class AcceptedTransactions {
  #waiting: SignedTransaction[] = [];
  readonly #waitingIds = new Set<string>();
  /** Consensus time by id, oldest first. */
  readonly #settled = new Map<string, Nanos>();

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Those waiting and those in the round under way. */
  get unsettled(): number {
    return this.#waitingIds.size;
  }

  get remembered(): number {
    return this.#settled.size + this.#waitingIds.size;
  }

  isWaiting(id: string): boolean {
    return this.#waitingIds.has(id);
  }

  knows(id: string): boolean {
    return this.#waitingIds.has(id) || this.#settled.has(id);
  }

  add(transaction: SignedTransaction): void {
    this.#waiting.push(transaction);
    this.#waitingIds.add(transaction.id);
  }

  /** Takes the oldest waiting transactions out of the queue; their ids stay known until they are settled. */
  take(count: number): SignedTransaction[] {
    return this.#waiting.splice(0, count);
  }

  settle(id: string, at: Nanos): void {
    this.#settled.set(id, at);
    this.#waitingIds.delete(id);
  }

  /** Forgets the ids that can no longer be valid. */
  prune(now: Nanos): void {
    for (const [id, at] of this.#settled) {
      if (at + MAX_VALIDITY >= now) return;
      this.#settled.delete(id);
    }
  }
}
