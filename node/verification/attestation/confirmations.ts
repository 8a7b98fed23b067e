import type { RecordId } from '../../../protocol/ids.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';

/** An own record that somebody waits for. */
export type Awaited = Pick<AttestationRecord, 'id' | 'seq'>;

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
