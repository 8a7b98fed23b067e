import type { ParseOptions } from '../../protocol/json/parse.ts';
import { JsonError, type JsonErrorCode } from '../../protocol/json/value.ts';
import { FileError } from '../../protocol/verdict/file-reader.ts';
import type { Verdict } from '../../protocol/verdict/verdict.ts';
import { BusyError } from '../concurrency/semaphore.ts';
import { SMALL_THREAD, WorkerError, WorkerPool } from '../concurrency/worker-pool.ts';
import type { BundleQuestions, JudgingTerms } from './judge-bundle.ts';

/** The UTF-8 of a bundle, in memory of its own: the thread takes it, and who told it has it no more. */
export type BundleBytes = Uint8Array<ArrayBuffer>;

/** What a bundle asks a node's log about, and the bundle, which is given back. */
export interface AskedBundle {
  readonly questions: BundleQuestions;
  readonly bundle: BundleBytes;
}

/** What the thread is told, one at a time: to read what a bundle asks about, or to judge it. */
export type JudgingOrder =
  | { readonly bundle: BundleBytes; readonly limits: ParseOptions }
  | { readonly bundle: BundleBytes; readonly terms: JudgingTerms };

/** What it says to each order. */
export type JudgingWord =
  | AskedBundle
  | { readonly judged: Verdict }
  | {
      readonly malformed: {
        readonly code: FileError['code'];
        readonly pointer: string;
        readonly message: string;
      };
    }
  | { readonly notJson: { readonly code: JsonErrorCode; readonly message: string } };

/**
 * A bundle was not judged: it took too long or too much memory, too many wait, or the node stops. Nothing is known of
 * it.
 */
export class JudgingError extends Error {
  override readonly name = 'JudgingError';
}

/** Bounds on one bundle. The longest with the most values fits; a usual one takes a tenth of either. */
interface JudgingLimits {
  readonly heapMiB: number;
  /** In milliseconds. */
  readonly judgingMs: number;
}

const LIMITS: JudgingLimits = { heapMiB: 256, judgingMs: 20_000 };
/** Bundles that may wait; of one after the other, more would wait for longer than callers do. */
const MAX_WAITING = 256;
const SCRIPT = new URL('./judging-worker.ts', import.meta.url);

/** Judges bundles in a thread of its own, in the order in which they come, while the event loop goes on. */
export class JudgingThread implements AsyncDisposable {
  readonly #pool: WorkerPool<JudgingOrder, JudgingWord>;

  constructor({ heapMiB, judgingMs }: Partial<JudgingLimits> = {}) {
    this.#pool = new WorkerPool({
      script: SCRIPT,
      threads: 1,
      waiting: MAX_WAITING,
      heapMiB: heapMiB ?? LIMITS.heapMiB,
      orderMs: judgingMs ?? LIMITS.judgingMs,
      ...SMALL_THREAD,
      given: ({ bundle }) => [bundle.buffer],
    });
  }

  /** What a bundle asks a node's log about, and the bundle. Throws `JsonError`, `FileError` or `JudgingError`. */
  async questions(bundle: BundleBytes, limits: ParseOptions): Promise<AskedBundle> {
    const word = await this.#do({ bundle, limits });
    if ('questions' in word) return word;
    throw new JudgingError('the thread answered something else');
  }

  /** Throws `JsonError`, `FileError` or `JudgingError`. */
  async judge(bundle: BundleBytes, terms: JudgingTerms): Promise<Verdict> {
    const word = await this.#do({ bundle, terms });
    if ('judged' in word) return word.judged;
    throw new JudgingError('the thread answered something else');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
  }

  async #do(order: JudgingOrder): Promise<JudgingWord> {
    const word = await this.#pool.run(order).catch((error: unknown) => {
      if (!(error instanceof WorkerError || error instanceof BusyError)) throw error;
      throw new JudgingError(`the bundle is not judged: ${error.message}`, { cause: error });
    });
    if ('malformed' in word) {
      const { code, pointer, message } = word.malformed;
      throw new FileError(code, pointer, message);
    }
    if ('notJson' in word) throw new JsonError(word.notJson.code, word.notJson.message);
    return word;
  }
}
