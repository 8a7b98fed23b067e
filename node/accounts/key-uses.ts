import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { apiKeyTable } from './api-key.ts';

export interface KeyUsesOptions {
  readonly store: Store;
  /** Runs work while no other change of accounts or keys is under way. */
  readonly alone: (work: () => Promise<void>) => Promise<void>;
  /** Told of a write that failed; what it held is tried again with the next use that is noted. */
  readonly onFailure: (error: unknown) => void;
}

/** Writes the day of each key's last use, off the path of the request: one small write for all that arrived meanwhile. */
export class KeyUses implements AsyncDisposable {
  readonly #options: KeyUsesOptions;
  /** Digest → day, until it is on the disk. */
  readonly #waiting = new Map<string, string>();
  #writing: Promise<void> | undefined;

  constructor(options: KeyUsesOptions) {
    this.#options = options;
  }

  /** Notes a use on a UTC day. Called at most once a key and day, and again after the key's row was read anew. */
  note(digest: string, day: string): void {
    this.#waiting.set(digest, day);
    this.#writing ??= this.#write();
  }

  /** Whether a use of the key waits to be written. */
  has(digest: string): boolean {
    return this.#waiting.has(digest);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    try {
      while (this.#waiting.size > 0) await this.#options.alone(() => this.#writeWaiting([...this.#waiting]));
    } catch (error) {
      this.#options.onFailure(error);
    } finally {
      this.#writing = undefined;
    }
  }

  async #writeWaiting(uses: readonly (readonly [digest: string, day: string])[]): Promise<void> {
    const { store } = this.#options;
    const operations: Operation[] = [];
    for (const [digest, day] of uses) {
      const key = await apiKeyTable.get(store, digest);
      if (key === undefined || (key.lastUsedDay ?? '') >= day) continue;
      operations.push(apiKeyTable.put([digest], { ...key, lastUsedDay: day }));
    }
    await store.write(operations);
    for (const [digest, day] of uses) if (this.#waiting.get(digest) === day) this.#waiting.delete(digest);
  }
}
