import type { NodeId } from '../../protocol/ids.ts';
import { Semaphore } from '../concurrency/semaphore.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { WorkerPool } from '../concurrency/worker-pool.ts';
import { newRecordId } from '../records/record-id.ts';
import { type Draft, type DraftTexts, type PreparedDraft, preparedOf, type SealedDraft, textsOf } from './draft.ts';
import {
  type GroupPreparation,
  type IntakeQueue,
  MAX_GROUP_RECORDS,
  type PreparedGroup,
  prepareTaken,
  refuse,
  type Submission,
} from './groups.ts';
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
      isUrgent: true,
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

/** A thread costs this one more than it takes off where a group has fewer records: see the bench of intake. */
export const MIN_THREAD_RECORDS = 32;
/**
 * What a thread is given at once. Of a group with more, memory would hold two copies: it is prepared in place. In
 * bytes.
 */
export const MAX_THREAD_BYTES = 16 << 20;

/** What names a draft before it is handed over. */
export interface Naming {
  readonly node: NodeId;
  readonly now: () => number;
}

/** Prepares as many groups at once as there are threads, ahead of the loop. */
export class PreparationInThreads implements GroupPreparation {
  readonly #queue: IntakeQueue;
  readonly #threads: PreparingThreads;
  readonly #naming: Naming;
  /** Groups that were cut and not asked for yet. */
  readonly #places: Semaphore;
  readonly #ahead: { readonly group: Promise<PreparedGroup>; readonly place: Disposable }[] = [];
  #arrived = Promise.withResolvers<void>();
  #isOver = false;
  #isCutting = false;

  constructor(queue: IntakeQueue, threads: PreparingThreads, naming: Naming) {
    this.#queue = queue;
    this.#threads = threads;
    this.#naming = naming;
    this.#places = new Semaphore({ places: threads.threads });
  }

  async next(): Promise<PreparedGroup | undefined> {
    if (!this.#isCutting) void this.#cutAll();
    this.#isCutting = true;
    while (this.#ahead.length === 0) {
      if (this.#isOver) return undefined;
      await this.#arrived.promise;
      this.#arrived = Promise.withResolvers<void>();
    }
    const first = this.#ahead.shift();
    if (first === undefined) return undefined;
    using _place = first.place;
    const group = await first.group;
    // A halt came while it was prepared: not one more record may be signed.
    const halt = this.#queue.haltError;
    return halt === null ? group : refused(group.submissions, halt);
  }

  async #cutAll(): Promise<void> {
    for (;;) {
      const place = await this.#places.enter();
      const taken = await this.#queue.take();
      if (taken === undefined) break;
      this.#ahead.push({ group: this.#prepare(taken), place });
      this.#arrived.resolve();
    }
    this.#isOver = true;
    this.#arrived.resolve();
  }

  /** Never rejects: anyone who waits for the group is told. */
  async #prepare(taken: readonly Submission[]): Promise<PreparedGroup> {
    const records = taken.reduce((sum, { count }) => sum + count, 0);
    const bytes = taken.reduce((sum, submission) => sum + submission.bytes, 0);
    if (records < MIN_THREAD_RECORDS || bytes > MAX_THREAD_BYTES) return prepareTaken(taken);
    const packer = new DraftPacker();
    const packed = new Map<Submission, readonly NamedDraft[]>();
    const submissions: Submission[] = [];
    await new TimeSlices().each(taken, (submission) => {
      try {
        if (submission.drafts !== null) {
          const named = submission.drafts.map((draft) => nameDraft(draft, this.#naming));
          packer.add(named.map(({ texts }) => texts));
          packed.set(submission, named);
        }
        submissions.push(submission);
      } catch (error) {
        submission.reject(error);
      }
    });
    let sealed: readonly SealedDraft[];
    try {
      sealed = packer.size === 0 ? [] : await this.#threads.sealPacked(packer);
    } catch (error) {
      return refused(submissions, error);
    }
    let first = 0;
    const back: Submission[] = [];
    for (const submission of submissions) {
      const named = packed.get(submission) ?? [];
      const own = sealed.slice(first, first + named.length);
      first += named.length;
      back.push(packed.has(submission) ? { ...submission, prepare: () => finish(named, own) } : submission);
    }
    return prepareTaken(back);
  }
}

/** Prepares many drafts, a group's worth an order. Throws `IntakeError`. */
export async function prepareInThreads(
  drafts: readonly Draft[],
  threads: PreparingThreads,
  naming: Naming,
): Promise<readonly PreparedDraft[]> {
  const slices = new TimeSlices();
  const sealFrom = async (first: number): Promise<readonly PreparedDraft[]> => {
    if (slices.isOver) await slices.rest();
    const named = drafts.slice(first, first + MAX_GROUP_RECORDS).map((draft) => nameDraft(draft, naming));
    return finish(named, await threads.seal(named.map(({ texts }) => texts)));
  };
  const firsts = Array.from({ length: Math.ceil(drafts.length / MAX_GROUP_RECORDS) }, (_, i) => i * MAX_GROUP_RECORDS);
  return (await Promise.all(firsts.map(sealFrom))).flat();
}

interface NamedDraft {
  readonly draft: Draft;
  readonly texts: DraftTexts;
}

function nameDraft(draft: Draft, { node, now }: Naming): NamedDraft {
  return { draft, texts: textsOf(draft, newRecordId(node, now())) };
}

/** Throws `StatementError` where no member could read a record of one of them. */
function finish(named: readonly NamedDraft[], sealed: readonly SealedDraft[]): readonly PreparedDraft[] {
  return named.map(({ draft, texts }, i) => {
    const own = sealed[i];
    if (own === undefined) throw new IntakeError('preparing-failed', 'the thread sealed too few drafts');
    return preparedOf(draft, texts.id, own);
  });
}

/** The group that is left when everyone who waited for it is told. */
function refused(submissions: readonly Submission[], error: unknown): PreparedGroup {
  refuse(submissions, error);
  return { submissions: [], drafts: [] };
}
