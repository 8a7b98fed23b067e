import { availableParallelism } from 'node:os';
import type { Logger } from 'pino';
import { WorkerPool } from '../concurrency/worker-pool.ts';
import { givenBytes, packBytes, type PackedBytes, type PackedGroups, unpackGroups } from './packed-page.ts';
import type { PageGroup } from './page-check.ts';
import { openedBytes, PAGE_BYTES } from './page-forms.ts';

/** What a thread is told: the frames of a page. It answers with the groups that the page begins with. */
export type PageOrder = PackedBytes;

export interface PageChecksOptions {
  /** 0: none, pages are checked in place. Default: as many as are of use here. */
  readonly threads?: number;
  /** Bytes of pages that are checked in place before a thread is started. Default: `BYTES_BEFORE_THREADS`. */
  readonly bytesBefore?: number;
  /** What a thread runs. Default: the worker beside this file. */
  readonly script?: URL;
  readonly log: Logger;
}

/** Writing what threads have checked keeps the event loop as busy as these are. */
const MOST_THREADS = 2;
/** Some 10,000 records: starting a thread takes as long as checking them, and it takes 20 MiB. */
const BYTES_BEFORE_THREADS = 8 * PAGE_BYTES;
/** Handing a shorter page over costs more than is gained. In bytes. */
const SMALL_PAGE_BYTES = PAGE_BYTES / 8;
/** Far above what a page takes, the longest that waits for its turn included. */
const THREAD_HEAP_MIB = 128;
const PAGE_MS = 30_000;
const SCRIPT = new URL('./page-worker.ts', import.meta.url);

/**
 * Checks the records of pages in threads of their own, while the event loop writes those before. What no thread vouches
 * for is checked in place: small pages, the first ones, those of a thread that ended, and whatever does not hold.
 */
export class PageChecks implements AsyncDisposable {
  readonly #script: URL;
  readonly #threads: number;
  readonly #bytesBefore: number;
  readonly #log: Logger;
  #bytesLeft: number;
  #pool: WorkerPool<PageOrder, PackedGroups> | undefined;
  #ending: Promise<unknown> = Promise.resolve();

  constructor({ threads, bytesBefore = BYTES_BEFORE_THREADS, script = SCRIPT, log }: PageChecksOptions) {
    this.#script = script;
    this.#threads = threads ?? Math.min(availableParallelism() - 1, MOST_THREADS);
    this.#bytesBefore = bytesBefore;
    this.#bytesLeft = bytesBefore;
    this.#log = log;
  }

  /**
   * The groups that hold, of those that the page begins with; the frames behind them are to be checked in place. Never
   * rejects: a page whose thread ended is one to be checked in place.
   */
  async check(frames: readonly Uint8Array[], signal: AbortSignal): Promise<readonly PageGroup[]> {
    const bytes = frames.reduce((sum, frame) => sum + openedBytes(frame), 0);
    const isSoon = this.#bytesLeft > 0;
    this.#bytesLeft -= bytes;
    if (this.#threads === 0 || isSoon || bytes < SMALL_PAGE_BYTES || signal.aborted) return [];
    const pool = (this.#pool ??= this.#open());
    try {
      return unpackGroups(await pool.run(packBytes(frames), signal));
    } catch (error) {
      // Given up with its pool, it is of no use to anybody.
      if (this.#pool === pool && !signal.aborted) this.#log.warn({ err: error }, 'a thread that checked a page ended');
      return [];
    }
  }

  /** Ends the threads until there is as much to check again. */
  async rest(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    this.#bytesLeft = this.#bytesBefore;
    this.#ending = Promise.all([this.#ending, pool?.[Symbol.asyncDispose]()]);
    await this.#ending;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.rest();
  }

  #open(): WorkerPool<PageOrder, PackedGroups> {
    return new WorkerPool({
      script: this.#script,
      threads: this.#threads,
      heapMiB: THREAD_HEAP_MIB,
      orderMs: PAGE_MS,
      given: givenBytes,
    });
  }
}
