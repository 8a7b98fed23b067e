import { Worker } from 'node:worker_threads';
import type { ParseOptions } from '../../protocol/json/parse.ts';
import { JsonError, type JsonErrorCode } from '../../protocol/json/value.ts';
import { FileError } from '../../protocol/verdict/file-reader.ts';
import type { Verdict } from '../../protocol/verdict/verdict.ts';
import type { BundleQuestions, JudgingTerms } from './judge-bundle.ts';

/** What the thread is told, one at a time: to read what a bundle asks about, or to judge it. */
export type JudgingOrder =
  | { readonly text: string; readonly limits: ParseOptions }
  | { readonly text: string; readonly terms: JudgingTerms };

/** What it says to each order. */
export type JudgingWord =
  | { readonly questions: BundleQuestions }
  | { readonly judged: Verdict }
  | {
      readonly malformed: {
        readonly code: FileError['code'];
        readonly pointer: string;
        readonly message: string;
      };
    }
  | { readonly notJson: { readonly code: JsonErrorCode; readonly message: string } };

/** A bundle was not judged: it took too long or too much memory, or the node stops. Nothing is known of it. */
export class JudgingError extends Error {
  override readonly name = 'JudgingError';
}

/** Bounds on one bundle. The largest takes a tenth of either. */
interface JudgingLimits {
  readonly heapMiB: number;
  /** In milliseconds. */
  readonly judgingMs: number;
}

interface Job extends PromiseWithResolvers<JudgingWord> {
  readonly order: JudgingOrder;
}

const LIMITS: JudgingLimits = { heapMiB: 512, judgingMs: 20_000 };
const SCRIPT = new URL('./judging-worker.ts', import.meta.url);
const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY';

/**
 * Judges bundles in a thread of its own, in the order in which they come, while the event loop goes on. The thread is
 * started when it is first needed, and anew after a bundle that ended it, which fails alone. It keeps no process alive
 * that nobody waits in.
 */
export class JudgingThread implements AsyncDisposable {
  readonly #limits: JudgingLimits;
  /** The first is under work. */
  readonly #jobs: Job[] = [];
  #worker: Worker | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(limits: Partial<JudgingLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** What a bundle asks a node's log about. Throws `JsonError`, `FileError` or `JudgingError`. */
  async questions(text: string, limits: ParseOptions): Promise<BundleQuestions> {
    const word = await this.#do({ text, limits });
    if ('questions' in word) return word.questions;
    throw new JudgingError('the thread answered something else');
  }

  /** Throws `JsonError`, `FileError` or `JudgingError`. */
  async judge(text: string, terms: JudgingTerms): Promise<Verdict> {
    const word = await this.#do({ text, terms });
    if ('judged' in word) return word.judged;
    throw new JudgingError('the thread answered something else');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#timer);
    const worker = this.#worker;
    this.#worker = null;
    for (const { reject } of this.#jobs.splice(0)) reject(stopping());
    worker?.ref();
    await worker?.terminate();
  }

  #do(order: JudgingOrder): Promise<JudgingWord> {
    if (this.#isOver) return Promise.reject(stopping());
    const job: Job = { ...Promise.withResolvers<JudgingWord>(), order };
    this.#jobs.push(job);
    if (this.#jobs.length === 1) this.#begin(job);
    return job.promise;
  }

  #begin({ order }: Job): void {
    const worker = (this.#worker ??= this.#start());
    const late = new JudgingError('the bundle takes too long to judge');
    this.#timer = setTimeout(() => this.#giveUp(worker, late), this.#limits.judgingMs);
    worker.ref();
    worker.postMessage(order, []);
  }

  #start(): Worker {
    const resourceLimits = { maxOldGenerationSizeMb: this.#limits.heapMiB };
    const worker = new Worker(SCRIPT, { env: {}, resourceLimits });
    worker.on('message', (word: JudgingWord) => {
      if (worker === this.#worker) this.#end((job) => settle(job, word));
    });
    worker.on('error', (error) => this.#giveUp(worker, reasonOf(error)));
    worker.on('exit', () => this.#giveUp(worker, new JudgingError('the thread ended')));
    return worker;
  }

  /** Ends the thread, and fails the bundle under work. */
  #giveUp(worker: Worker, reason: Error): void {
    if (worker !== this.#worker) return;
    this.#worker = null;
    void worker.terminate();
    this.#end(({ reject }) => reject(reason));
  }

  /** The bundle under work is done with; the next has its turn. */
  #end(tell: (job: Job) => void): void {
    clearTimeout(this.#timer);
    const job = this.#jobs.shift();
    if (job !== undefined) tell(job);
    const [next] = this.#jobs;
    if (next === undefined) this.#worker?.unref();
    else this.#begin(next);
  }
}

function settle({ resolve, reject }: Job, word: JudgingWord): void {
  if ('malformed' in word) {
    const { code, pointer, message } = word.malformed;
    reject(new FileError(code, pointer, message));
  } else if ('notJson' in word) {
    reject(new JsonError(word.notJson.code, word.notJson.message));
  } else {
    resolve(word);
  }
}

/** Too much memory is the bundle's doing; anything else is a fault of the program's own, and told as what it is. */
function reasonOf(error: Error): Error {
  const isTooLarge = 'code' in error && error.code === OUT_OF_MEMORY;
  return isTooLarge ? new JudgingError('the bundle takes too much memory to judge', { cause: error }) : error;
}

function stopping(): JudgingError {
  return new JudgingError('the node is stopping');
}
