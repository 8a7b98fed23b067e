import type { NodeId } from '../../protocol/ids.ts';
import { Semaphore } from '../concurrency/semaphore.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { newRecordId } from '../records/record-id.ts';
import { type Draft, type DraftTexts, type PreparedDraft, preparedOf, type SealedDraft, textsOf } from './draft.ts';
import { IntakeError } from './intake-error.ts';
import { type IntakeQueue, MAX_GROUP_RECORDS, type Submission } from './intake-queue.ts';
import { DraftPacker } from './packed-drafts.ts';
import type { PreparingThreads } from './preparing-threads.ts';

/** A thread costs this one more than it takes off where a group has fewer records: see the bench of intake. */
export const MIN_THREAD_RECORDS = 32;
/**
 * What a thread is given at once. Of a group with more, memory would hold two copies: it is prepared in place. In
 * bytes.
 */
export const MAX_THREAD_BYTES = 16 << 20;

/** What is recorded together, and who waits for it. */
export interface PreparedGroup {
  readonly submissions: readonly Submission[];
  readonly drafts: readonly PreparedDraft[];
}

const EMPTY: PreparedGroup = { submissions: [], drafts: [] };

/** What names a draft before it is handed over. */
export interface Naming {
  readonly node: NodeId;
  readonly now: () => number;
}

/**
 * Gives the groups of the queue, prepared, in the order in which they are cut. Asked by one loop, until it is
 * undefined.
 */
export interface GroupPreparation {
  next(): Promise<PreparedGroup | undefined>;
}

/** Prepares each group in place when it is asked for. */
export class PreparationInPlace implements GroupPreparation {
  readonly #queue: IntakeQueue;

  constructor(queue: IntakeQueue) {
    this.#queue = queue;
  }

  async next(): Promise<PreparedGroup | undefined> {
    const taken = await this.#queue.take();
    return taken && prepareTaken(taken);
  }
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
    try {
      const sealed = (packer.size === 0 ? [] : await this.#threads.sealPacked(packer)).values();
      const drafts = submissions.flatMap((submission) => {
        const named = packed.get(submission);
        return named === undefined ? submission.prepare() : named.map((each) => finish(each, sealed));
      });
      return { submissions, drafts };
    } catch (error) {
      return refused(submissions, error);
    }
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
    const sealed = (await threads.seal(named.map(({ texts }) => texts))).values();
    return named.map((each) => finish(each, sealed));
  };
  const firsts = Array.from({ length: Math.ceil(drafts.length / MAX_GROUP_RECORDS) }, (_, i) => i * MAX_GROUP_RECORDS);
  return (await Promise.all(firsts.map(sealFrom))).flat();
}

/**
 * Prepares what goes into a group. Whoever submitted what cannot be prepared is told, and keeps nobody else from it.
 */
async function prepareTaken(taken: readonly Submission[]): Promise<PreparedGroup> {
  const submissions: Submission[] = [];
  const drafts: PreparedDraft[] = [];
  await new TimeSlices().each(taken, (submission) => {
    try {
      drafts.push(...submission.prepare());
      submissions.push(submission);
    } catch (error) {
      submission.reject(error);
    }
  });
  return { submissions, drafts };
}

interface NamedDraft {
  readonly draft: Draft;
  readonly texts: DraftTexts;
}

function nameDraft(draft: Draft, { node, now }: Naming): NamedDraft {
  return { draft, texts: textsOf(draft, newRecordId(node, now())) };
}

function finish({ draft, texts }: NamedDraft, sealed: Iterator<SealedDraft>): PreparedDraft {
  const { value, done } = sealed.next();
  if (done === true) throw new IntakeError('preparing-failed', 'the thread sealed too few drafts');
  return preparedOf(draft, texts.id, value);
}

function refused(submissions: readonly Submission[], error: unknown): PreparedGroup {
  for (const submission of submissions) submission.reject(error);
  return EMPTY;
}
