import { MessageChannel } from 'node:worker_threads';
import { type CallHandlers, serveCalls } from '../concurrency/port-call.ts';
import { SMALL_THREAD, WorkerPool } from '../concurrency/worker-pool.ts';
import type { PackCalls, PackOrder, PackWord } from './pack-calls.ts';

/** Of the thread's heap: a million records take 60 MiB of it, beside one group of the longest payloads. */
const HEAP_MIB = 192;
/** What a million records take is some minutes. In milliseconds. */
const ORDER_MS = 6 * 3_600_000;
const SCRIPT = new URL('./pack-worker.ts', import.meta.url);

/** Makes packs in a thread, one after the other. It ends soon after the last of a series, and its memory with it. */
export class PackThread implements AsyncDisposable {
  readonly #pool = new WorkerPool<PackOrder, PackWord>({
    script: SCRIPT,
    threads: 1,
    heapMiB: HEAP_MIB,
    orderMs: ORDER_MS,
    ...SMALL_THREAD,
    given: ({ port }) => [port],
  });

  /** Rejects with the signal's reason, `WorkerError`, and whatever else went wrong in the thread. */
  async make(
    order: Omit<PackOrder, 'port'>,
    handlers: CallHandlers<PackCalls>,
    signal: AbortSignal,
  ): Promise<PackWord> {
    const { port1, port2 } = new MessageChannel();
    serveCalls<PackCalls>(port1, handlers);
    try {
      return await this.#pool.run({ ...order, port: port2 }, signal);
    } finally {
      port1.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
  }
}
