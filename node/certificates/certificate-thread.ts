import { SMALL_THREAD, WorkerError, WorkerPool } from '../concurrency/worker-pool.ts';
import type { CertificateFacts } from './certificate-facts.ts';

/** What the thread is told, one at a time. `proof`: the text of the file that is attached. */
export interface CertificateOrder {
  readonly facts: CertificateFacts;
  readonly proof: string;
}

/** What it says: the PDF. */
export type CertificateWord = Uint8Array<ArrayBuffer>;

/** A certificate was not made: it took too long or too much memory, or the node stops. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

/** Of the thread’s heap: the longest bundle, of 16 MiB, fits. */
const HEAP_MIB = 96;
/** In milliseconds. A usual certificate takes about ten, the first also what loading the library takes. */
const ORDER_MS = 10_000;
/** Certificates that may wait: one second's work. */
const MAX_WAITING = 64;
const SCRIPT = new URL('./certificate-worker.ts', import.meta.url);

/**
 * Makes certificates in a thread of its own, which starts with the first: until then nothing of the library is loaded.
 */
export class CertificateThread implements AsyncDisposable {
  readonly #pool = new WorkerPool<CertificateOrder, CertificateWord>({
    script: SCRIPT,
    threads: 1,
    waiting: MAX_WAITING,
    heapMiB: HEAP_MIB,
    orderMs: ORDER_MS,
    ...SMALL_THREAD,
  });

  /** Throws `CertificateError`, and `BusyError` where too many wait. */
  async make(facts: CertificateFacts, proof: string): Promise<Uint8Array> {
    try {
      return await this.#pool.run({ facts, proof });
    } catch (error) {
      if (!(error instanceof WorkerError)) throw error;
      throw new CertificateError(`the certificate was not made: ${error.message}`, { cause: error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
  }
}
