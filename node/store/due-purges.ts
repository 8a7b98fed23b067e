import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Operation } from './operation.ts';
import type { Store } from './store.ts';
import { Table, textCodec } from './table.ts';

/**
 * (hash of the key of a row that was deleted or rewritten) → that key. What the row held before may still be in a file.
 */
export const purgeDueTable = new Table('purge-due', textCodec);

/** Pause between two purges: rows that end meanwhile share the next one. In milliseconds. */
const PAUSE_MS = 5_000;
/** Pause after a purge that could not be completed. In milliseconds. */
const RETRY_MS = 30_000;
/** Rows that are purged together. */
const TOGETHER = 256;

/**
 * What must leave no trace on the disk when it ends: private and data keys. Deleting such a row, or rewriting it
 * without what ended, and noting that it is to be purged is one write, so whatever stops in between, what is due is
 * known at the next start. A row that has ended is not written again.
 */
export class DuePurges implements AsyncDisposable {
  readonly #store: Store;
  readonly #log: Logger;
  readonly #ending = new AbortController();
  #running: Promise<void> | undefined;
  #looking: Promise<number> | undefined;
  /** Rows may have ended since the last look; at first, before this run. */
  #isDue = true;

  constructor(store: Store, log: Logger) {
    this.#store = store;
    this.#log = log;
  }

  /** The end of these rows, for the write that it belongs into. Call `noteEnded` once that is on the disk. */
  end(keys: readonly string[]): Operation[] {
    return [...keys.map((key) => ({ type: 'del', key }) as const), ...this.due(keys)];
  }

  /** That what these rows held before is due, for the write that rewrites them. Call `noteEnded` like after `end`. */
  due(keys: readonly string[]): Operation[] {
    return keys.map((key) => purgeDueTable.put([partOf(key)], key));
  }

  /** Purges by itself from now on, at first what a run before this one left. */
  start(): void {
    this.#running ??= this.#run();
  }

  noteEnded(): void {
    this.#isDue = true;
  }

  /** Purges what is due. Resolves to the number of rows. Throws where it could not be completed; it stays due. */
  look(): Promise<number> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Waits for a purge under way. What is left is purged after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#running;
    await this.#looking?.catch(() => undefined);
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      let pause = PAUSE_MS;
      try {
        if (this.#isDue) await this.look();
      } catch (error) {
        pause = RETRY_MS;
        if (!signal.aborted) this.#log.warn({ err: error }, 'rows that ended are not purged yet');
      }
      await sleep(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  async #look(): Promise<number> {
    this.#isDue = false;
    try {
      return await this.#purge();
    } catch (error) {
      // Whoever asked for it: what is left is purged by itself later.
      this.#isDue = true;
      throw error;
    }
  }

  /** Crash order: what is due stays noted until the purge is over. */
  async #purge(): Promise<number> {
    let purged = 0;
    for (;;) {
      const due: [part: string, key: string][] = [];
      for await (const [[part = ''], key] of purgeDueTable.under(this.#store, [], { limit: TOGETHER })) {
        due.push([part, key]);
      }
      if (due.length === 0) return purged;
      await this.#store.purge(
        due.map(([, key]) => key),
        this.#ending.signal,
      );
      await this.#store.write(due.map(([part]) => purgeDueTable.del(part)));
      purged += due.length;
    }
  }
}

function partOf(key: string): string {
  return hash('sha256', key, 'hex');
}
