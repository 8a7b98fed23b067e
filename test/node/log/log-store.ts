import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommitGate } from '../../../node/store/operation.ts';
import { Store } from '../../../node/store/store.ts';

/** A store that can be closed and opened again. */
export class LogStore implements AsyncDisposable {
  readonly #directory: string;
  readonly #gate: CommitGate | undefined;
  store: Store;

  private constructor(directory: string, gate: CommitGate | undefined, store: Store) {
    this.#directory = directory;
    this.#gate = gate;
    this.store = store;
  }

  static async open(gate?: CommitGate): Promise<LogStore> {
    const directory = await mkdtemp(join(tmpdir(), 'meridian-log-'));
    return new LogStore(directory, gate, await Store.open(join(directory, 'store'), { gate }));
  }

  /** As after a crash: what was not written is gone. */
  async reopen(): Promise<Store> {
    await this.store[Symbol.asyncDispose]();
    this.store = await Store.open(join(this.#directory, 'store'), { gate: this.#gate });
    return this.store;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store[Symbol.asyncDispose]();
    await rm(this.#directory, { recursive: true, force: true });
  }
}
