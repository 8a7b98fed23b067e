import { WorkerPool } from '../concurrency/worker-pool.ts';
import type { DraftTexts, SealedDraft } from './draft.ts';
import { IntakeError } from './intake-error.ts';
import { DraftPacker, unpackSealed } from './packed-drafts.ts';

export interface PreparingThreadsOptions {
  readonly threads: number;
  /** 32 bytes from the node's key file. Each thread is given a copy when it starts. */
  readonly payloadKey: Uint8Array;
  /** What a thread runs. Default: the worker beside this file. */
  readonly script?: URL;
}

/** What a thread is told: packed drafts. It answers with as many packed sealed drafts. */
export type PreparingOrder = Uint8Array<ArrayBuffer>;

/** Where a thread finds the payload key. */
export interface PreparingData {
  readonly payloadKey: Uint8Array;
}

/** Of a thread's own heap: the buffers of a group are beside it. In MiB. */
const HEAP_MIB = 256;
/** In milliseconds. The largest group takes a hundredth of it. */
const ORDER_MS = 20_000;
const SCRIPT = new URL('./preparing-worker.ts', import.meta.url);

/** Undefined where there are none: groups are prepared in place. */
export function openPreparingThreads(threads: number, payloadKey: Uint8Array): PreparingThreads | undefined {
  return threads === 0 ? undefined : new PreparingThreads({ threads, payloadKey });
}

/** Commits and encrypts the drafts of whole groups in threads, several groups at once. */
export class PreparingThreads implements AsyncDisposable {
  readonly threads: number;
  readonly #pool: WorkerPool<PreparingOrder, Uint8Array>;

  constructor({ threads, payloadKey, script = SCRIPT }: PreparingThreadsOptions) {
    this.threads = threads;
    const data: PreparingData = { payloadKey };
    this.#pool = new WorkerPool({
      script,
      threads,
      heapMiB: HEAP_MIB,
      orderMs: ORDER_MS,
      data,
      given: (order) => [order.buffer],
    });
  }

  /**
   * Throws what preparing in place would throw of a draft, then nothing is done; `IntakeError` where the thread failed.
   */
  async seal(drafts: readonly DraftTexts[]): Promise<readonly SealedDraft[]> {
    const packer = new DraftPacker();
    packer.add(drafts);
    return this.sealPacked(packer);
  }

  /** Throws `IntakeError` `preparing-failed`. */
  async sealPacked(packer: DraftPacker): Promise<readonly SealedDraft[]> {
    try {
      return unpackSealed(await this.#pool.run(packer.pack()), packer.size);
    } catch (error) {
      throw new IntakeError('preparing-failed', 'the record could not be prepared', error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
  }
}
