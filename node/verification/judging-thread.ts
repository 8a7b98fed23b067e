import { Worker } from 'node:worker_threads';
import { BundleError } from '../../protocol/bundle/bundle.ts';
import { JsonError, type JsonErrorCode } from '../../protocol/json/value.ts';
import type { JudgedBundle, JudgingTerms } from './judge-bundle.ts';

/** What the thread is told. */
export interface JudgingOrder {
  readonly id: number;
  readonly text: string;
  readonly terms: JudgingTerms;
}

/** What it says to each order. */
export type JudgingWord = { readonly id: number } & (
  | { readonly judged: JudgedBundle }
  | { readonly malformed: { readonly pointer: string; readonly message: string } }
  | { readonly notJson: { readonly code: JsonErrorCode; readonly message: string } }
);

/** The thread ended before it had judged: nothing is known of the bundle. */
export class JudgingError extends Error {
  override readonly name = 'JudgingError';
}

/** Bounds on a thread. The largest bundle takes a tenth of either. */
export interface JudgingLimits {
  readonly heapMiB: number;
  /** From the asking, those before it included. In milliseconds. */
  readonly judgingMs: number;
}

const LIMITS: JudgingLimits = { heapMiB: 512, judgingMs: 20_000 };
const SCRIPT = new URL('./judging-worker.ts', import.meta.url);

/**
 * Judges bundles in a thread of its own, in the order in which they come, while the event loop goes on. The thread is
 * started when it is first needed, and anew after it failed. It keeps no process alive that nobody waits in.
 */
export class JudgingThread implements AsyncDisposable {
  readonly #limits: JudgingLimits;
  readonly #waiting = new Map<number, PromiseWithResolvers<JudgedBundle>>();
  #worker: Worker | null = null;
  #lastId = 0;
  #isOver = false;

  constructor(limits: Partial<JudgingLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Throws `JsonError`, `BundleError` or `JudgingError`. */
  async judge(text: string, terms: JudgingTerms): Promise<JudgedBundle> {
    if (this.#isOver) throw new JudgingError('the node is stopping');
    const worker = (this.#worker ??= this.#start());
    const id = ++this.#lastId;
    const word = Promise.withResolvers<JudgedBundle>();
    const timer = setTimeout(() => this.#give(worker, 'the bundle is not judged in time'), this.#limits.judgingMs);
    this.#waiting.set(id, word);
    worker.ref();
    try {
      worker.postMessage({ id, text, terms } satisfies JudgingOrder, []);
      return await word.promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0 && this.#worker === worker) worker.unref();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    const worker = this.#worker;
    if (worker === null) return;
    worker.ref();
    this.#give(worker, 'the node is stopping');
    await worker.terminate();
  }

  #start(): Worker {
    const worker = new Worker(SCRIPT, {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.heapMiB },
    });
    worker.on('message', (word: JudgingWord) => this.#settle(word));
    worker.on('error', (error) => this.#give(worker, 'the bundle cannot be judged', error));
    worker.on('exit', () => this.#give(worker, 'the bundle cannot be judged'));
    return worker;
  }

  #settle(word: JudgingWord): void {
    const waiting = this.#waiting.get(word.id);
    if ('judged' in word) waiting?.resolve(word.judged);
    else if ('malformed' in word) waiting?.reject(new BundleError(word.malformed.pointer, word.malformed.message));
    else waiting?.reject(new JsonError(word.notJson.code, word.notJson.message));
  }

  /** Gives a thread up, with all who wait for it. */
  #give(worker: Worker, reason: string, cause?: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    for (const { reject } of this.#waiting.values()) reject(new JudgingError(reason, { cause }));
    void worker.terminate();
  }
}
