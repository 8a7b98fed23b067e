import type { Logger } from 'pino';
import { recordId, type RecordId } from '../../protocol/ids.ts';
import { payloadKeyTable } from '../payload/payload-tables.ts';
import { readRecord } from '../records/record-reader.ts';
import type { Store } from '../store/store.ts';
import { erasureDueTable } from './erasure-due.ts';

/** Pause before keys that could not be purged are tried again. In milliseconds. */
const RETRY_MS = 60_000;

/** Records of erasure whose keys are purged together. */
const MAX_AT_ONCE = 100;

export interface ShredderOptions {
  readonly store: Store;
  readonly log: Logger;
}

/**
 * Rids the files of the store of keys that were erased. Crash order: the record of erasure, the deletions and the row
 * that says what is due are one write; the row goes once no file holds the keys, so a later start finishes the work.
 */
export class Shredder implements AsyncDisposable {
  readonly #options: ShredderOptions;
  readonly #ended = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;

  constructor(options: ShredderOptions) {
    this.#options = options;
  }

  /** Takes up what an earlier run left. */
  start(): void {
    void this.shred();
  }

  /** Resolves once all that is due by now is done, or could not be done and is left for later. */
  shred(): Promise<void> {
    this.#running = this.#running.then(() => this.#attempt());
    return this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    clearTimeout(this.#retry);
    await this.#running;
  }

  async #attempt(): Promise<void> {
    const { signal } = this.#ended;
    try {
      for (let due = await this.#next(); due.length > 0 && !signal.aborted; due = await this.#next()) {
        await this.#shredAll(due);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#options.log.warn(
        { err: error },
        'erased keys are not yet out of the files of the store; trying again later',
      );
      clearTimeout(this.#retry);
      this.#retry = setTimeout(() => this.start(), RETRY_MS).unref();
    }
  }

  async #next(): Promise<RecordId[]> {
    const ids: RecordId[] = [];
    const rows = erasureDueTable.under(this.#options.store, [], { limit: MAX_AT_ONCE });
    for await (const [, id] of rows) ids.push(recordId(id));
    return ids;
  }

  async #shredAll(due: readonly RecordId[]): Promise<void> {
    const { store } = this.#options;
    const keys: string[] = [];
    for (const id of due) {
      const erased = (await readRecord(store, id))?.record.links.erased ?? [];
      keys.push(...erased.map((target) => payloadKeyTable.key(target)));
    }
    await store.purge(keys, this.#ended.signal);
    await store.write(due.map((id) => erasureDueTable.del(id)));
  }
}
