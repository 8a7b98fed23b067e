import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { type Transferable, Worker } from 'node:worker_threads';
import { Semaphore } from './semaphore.ts';

export interface WorkerPoolOptions<Order = unknown> {
  /** What a thread runs: it receives each order as a message and posts one answer to each. An error ends it. */
  readonly script: URL;
  /** Threads at the same time. */
  readonly threads: number;
  /** Orders that may wait for one. Default: all. */
  readonly waiting?: number;
  /**
   * Memory that a thread may take, beside what is young. Past it the thread ends where it runs code of its own, and the
   * process in the midst of one native call, as `JSON.parse` is: whatever an order has parsed is bounded before.
   */
  readonly heapMiB: number;
  /** Memory of what is young: with half of it a thread that sees tens of MiB a second takes a seventh more. Default: 16. */
  readonly youngHeapMiB?: number;
  /** Time that one order may take once a thread has it, in milliseconds. */
  readonly orderMs: number;
  /**
   * After so long without an order a thread ends, and what it holds ends with it, or when another one rests; with 0, each
   * order has a thread of its own. In milliseconds. Default: it is kept.
   */
  readonly idleMs?: number;
  /** Whether the event loop waits for it with everybody: it does not give way to that. Default: it does. */
  readonly isUrgent?: boolean;
  /** Data that each thread gets a copy of when it starts. */
  readonly data?: unknown;
  /** What of an order is given away and not copied. Default: nothing. */
  readonly given?: (order: Order) => Transferable[];
}

/**
 * `too-late` and `too-large`: the order's own doing. `ended`: the thread ended by itself. `stopping`: the pool is
 * disposed.
 */
export type WorkerErrorCode = 'ended' | 'stopping' | 'too-large' | 'too-late';

/** An order was not done; nothing is known of what would have come of it. */
export class WorkerError extends Error {
  override readonly name = 'WorkerError';
  readonly code: WorkerErrorCode;

  constructor(code: WorkerErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
  }
}

/**
 * What is young in a thread's heap: an order's values live as long as it does, and more of it would only stand unused.
 * In MiB.
 */
const YOUNG_HEAP_MIB = 16;
/**
 * `npm run node` bounds the young heap of the event loop by this flag, which goes before the limits of a thread that
 * starts: from the first thread on there is none. A heap that is there keeps its bound.
 */
const THREADS_OWN_LIMITS = '--max-semi-space-size=0';
/** Threads of all pools of the process that end after a while. Each takes 13 to 30 MiB. */
const PASSING = new Set<Worker>();
/** Of these, those that rest. */
const MOST_RESTING = 1;
/** What ends each of them, the one that rests longest first. */
const RESTING = new Set<() => void>();
/** Pools of which several may have a thread at a time: small threads, each a little slower, that end soon. */
export const SMALL_THREAD = { youngHeapMiB: 4, idleMs: 2_000 } as const;
/**
 * A thread that is ended while it makes a coder of zlib takes the process with it (“close before init” of Node), so
 * what is given up has so long to come to its end. In milliseconds.
 */
const LAST_WORD_MS = 1_000;
const GIVING_WAY = new URL('./giving-way.ts', import.meta.url).href;
const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY';

/**
 * Does work in other threads while the event loop goes on. A thread is started when it is first needed, and again after
 * an order that ended it, which fails alone. Threads keep no process alive that nobody waits in.
 */
export class WorkerPool<Order, Word> implements AsyncDisposable {
  readonly #options: WorkerPoolOptions<Order>;
  readonly #places: Semaphore;
  readonly #closing = new AbortController();
  readonly #idle: Worker[] = [];
  readonly #all = new Set<Worker>();
  /** Threads that have an order and have not answered it. */
  readonly #working = new Set<Worker>();
  /** What keeps an idle thread from its end, once it is called. */
  readonly #wakings = new WeakMap<Worker, () => void>();

  constructor(options: WorkerPoolOptions<Order>) {
    const { threads: places, waiting } = options;
    this.#options = options;
    this.#places = new Semaphore({ places, ...(waiting === undefined ? {} : { waiting }) });
  }

  /**
   * What a thread says to an order. Rejects with `BusyError` where too many orders wait, with the signal's reason,
   * `WorkerError`, and whatever else the thread threw.
   */
  async run(order: Order, signal?: AbortSignal): Promise<Word> {
    const { signal: closing } = this.#closing;
    const either = signal === undefined ? closing : AbortSignal.any([closing, signal]);
    using _place = await this.#places.enter(either);
    const worker = this.#idle.pop() ?? this.#start();
    this.#wakings.get(worker)?.();
    let isSound = false;
    try {
      const word = await this.#ask(worker, order, either);
      isSound = this.#options.idleMs !== 0;
      return word;
    } finally {
      if (isSound && !closing.aborted) this.#keep(worker);
      else await this.#end(worker);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new WorkerError('stopping', 'the node is stopping'));
    await Promise.all([...this.#all].map((worker) => this.#end(worker)));
  }

  async #ask(worker: Worker, order: Order, signal: AbortSignal): Promise<Word> {
    const { orderMs, given } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<Word>();
    const fail = (error: Error) => reject(reasonOf(error));
    const exit = () => reject(new WorkerError('ended', 'the thread ended'));
    const leave = () => reject(signal.reason);
    const timer = setTimeout(() => reject(new WorkerError('too-late', `it takes over ${orderMs} ms`)), orderMs);
    worker.on('message', resolve).on('error', fail).on('exit', exit);
    signal.addEventListener('abort', leave, { once: true });
    worker.ref();
    try {
      signal.throwIfAborted();
      this.#working.add(worker);
      worker.once('message', () => this.#working.delete(worker));
      worker.postMessage(order, given?.(order) ?? []);
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      worker.off('message', resolve).off('error', fail).off('exit', exit);
      worker.unref();
    }
  }

  #start(): Worker {
    const { script, heapMiB, youngHeapMiB = YOUNG_HEAP_MIB, isUrgent = false, data } = this.#options;
    const resourceLimits = { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: youngHeapMiB };
    setFlagsFromString(THREADS_OWN_LIMITS);
    const execArgv = isUrgent ? [] : ['--import', GIVING_WAY];
    const worker = new Worker(script, { env: threadEnvironment(), execArgv, resourceLimits, workerData: data });
    this.#all.add(worker);
    if (this.#options.idleMs !== undefined) PASSING.add(worker);
    // One that ends with nothing to do is started again for the next order.
    worker.on('error', () => {});
    worker.on('exit', () => {
      this.#all.delete(worker);
      this.#working.delete(worker);
      PASSING.delete(worker);
      this.#forget(worker);
    });
    return worker;
  }

  #keep(worker: Worker): void {
    const { idleMs } = this.#options;
    this.#idle.push(worker);
    if (idleMs === undefined) return;
    const end = (): void => {
      this.#forget(worker);
      void this.#end(worker);
    };
    const timer = setTimeout(end, idleMs).unref();
    this.#wakings.set(worker, () => {
      clearTimeout(timer);
      RESTING.delete(end);
    });
    RESTING.add(end);
    const [longest] = RESTING;
    if (RESTING.size > MOST_RESTING) longest?.();
  }

  /** Gives it no order any more. */
  #forget(worker: Worker): void {
    this.#wakings.get(worker)?.();
    const at = this.#idle.indexOf(worker);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  async #end(worker: Worker): Promise<void> {
    worker.ref();
    if (this.#working.has(worker)) await endOfWork(worker);
    await worker.terminate();
  }
}

/** Resolves once the thread has answered or ended, or has had its time to. */
async function endOfWork(worker: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, LAST_WORD_MS);
  const done = () => resolve();
  worker.once('message', done).once('exit', done);
  await promise;
  clearTimeout(timer);
  worker.off('message', done).off('exit', done);
}

/** How many threads this process has now of pools that do not keep theirs. */
export function passingThreads(): number {
  return PASSING.size;
}

/** Of the process's environment a thread gets only where compiled sources are kept, which saves half of its start. */
function threadEnvironment(): { readonly NODE_COMPILE_CACHE?: string } {
  const compiled = getCompileCacheDir();
  return compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) };
}

/** Too much memory is the order's doing. Anything else is a fault of the program and is reported as it is. */
function reasonOf(error: Error): Error {
  const isTooLarge = 'code' in error && error.code === OUT_OF_MEMORY;
  return isTooLarge ? new WorkerError('too-large', 'it takes too much memory', error) : error;
}
