import { availableParallelism } from 'node:os';
import { WorkerError, WorkerPool } from '../concurrency/worker-pool.ts';
import { type CheckedRange, GroupChecker, type GroupRange } from './group-check.ts';

/** What a thread is told. */
export interface RangeOrder {
  readonly payloadKey: Uint8Array | null;
  readonly range: GroupRange;
}

export interface GroupChecksOptions {
  readonly payloadKey: Uint8Array | null;
  /** 0: in this thread. Undefined: as many as there are processors, once there is enough to check. */
  readonly threads: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Threads that are of use: reading the rows and walking along the records keeps one thread as busy as these are here.
 */
export const MOST_THREADS = 3;
/** Records that are checked in this thread before others are started: starting one takes longer than checking them. */
const RECORDS_BEFORE_THREADS = 10_000;
/** Ranges that wait for a thread, so that none stands still while rows are read. */
const WAITING_RANGES = 1;
/** Far above what a range takes. */
const THREAD_HEAP_MIB = 96;
/**
 * A range's values are young together: with a third of this they survive several collections, and checking a record
 * takes a tenth more. In MiB.
 */
const THREAD_YOUNG_HEAP_MIB = 48;
const RANGE_MS = 600_000;

/**
 * Checks ranges of groups, in threads of their own where that is faster. A thread that ends has its range checked here.
 */
export class GroupChecks implements AsyncDisposable {
  /** Ranges that may be under work at a time. */
  readonly ahead: number;
  readonly #options: GroupChecksOptions;
  readonly #here: GroupChecker;
  readonly #threads: number;
  #recordsLeft: number;
  #pool: WorkerPool<RangeOrder, CheckedRange> | undefined;

  constructor(options: GroupChecksOptions) {
    const { payloadKey, threads } = options;
    this.#options = options;
    this.#here = new GroupChecker(payloadKey);
    const processors = availableParallelism();
    this.#threads = threads ?? (processors === 1 ? 0 : Math.min(processors, MOST_THREADS));
    this.ahead = this.#threads === 0 ? 0 : this.#threads + WAITING_RANGES;
    this.#recordsLeft = threads === undefined ? RECORDS_BEFORE_THREADS : 0;
  }

  async check({ groups, isProven }: GroupRange): Promise<CheckedRange> {
    const range = { groups, isProven };
    const { payloadKey, signal } = this.#options;
    signal?.throwIfAborted();
    if (this.#threads === 0 || this.#recordsLeft > 0) {
      for (const { group } of range.groups) this.#recordsLeft -= group.size;
      return this.#here.check(range);
    }
    this.#pool ??= new WorkerPool({
      script: new URL('./group-worker.ts', import.meta.url),
      threads: this.#threads,
      heapMiB: THREAD_HEAP_MIB,
      youngHeapMiB: THREAD_YOUNG_HEAP_MIB,
      orderMs: RANGE_MS,
      isUrgent: true,
    });
    try {
      return await this.#pool.run({ payloadKey, range }, signal);
    } catch (error) {
      if (!(error instanceof WorkerError) || error.code === 'stopping') throw error;
      return this.#here.check(range);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool?.[Symbol.asyncDispose]();
  }
}
