import type { NodeId } from '../../protocol/ids.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import { type Timestamp, timestampOf } from '../../protocol/time.ts';
import { payloadOperations } from '../records/payload/payload-tables.ts';
import type { PayloadCipher } from '../records/payload/payload-cipher.ts';
import { haltingSigner } from '../keys/halting-signer.ts';
import type { Projection } from '../records/projection.ts';
import type { RecordCounters } from '../records/record-counters.ts';
import { groupOperationParts, groupTable } from '../records/record-tables.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { type Draft, type PreparedDraft, prepareDraft } from './draft.ts';
import { idempotencyOperation } from './idempotency.ts';
import { type HaltCode, IntakeError } from './intake-error.ts';
import {
  type BuiltGroup,
  buildGroup,
  type BuiltRecord,
  type GroupPreparation,
  IntakeQueue,
  MAX_GROUP_RECORDS,
  PreparationInPlace,
  refuse,
  type Submission,
  type WaitingDrafts,
} from './groups.ts';
import { OnceGuard } from './once-guard.ts';
import { PreparationInThreads, prepareInThreads, type PreparingThreads } from './preparing-threads.ts';
import { SourceHeads, TentativeHeads } from '../records/sources/sources.ts';

export interface IntakeOptions {
  readonly node: NodeId;
  readonly store: Store;
  /** The key that signs at the moment. */
  readonly signer: () => Signer;
  readonly cipher: PayloadCipher;
  readonly now: () => number;
  /** Where groups are prepared; absent: in place. */
  readonly threads?: PreparingThreads | undefined;
  /**
   * Submission time of records from `first` on, given that of the records before, in epoch milliseconds. Throws
   * `IntakeError` where there is none now. Absent: the clock, never before the records before.
   */
  readonly timeOf?: (first: number, last: number) => number;
  /** What is derived from each of this node's records; its rows land in their write. */
  readonly projections: readonly Projection[];
  readonly counters: RecordCounters;
  /** Told of every group once it is on the disk, in order of seq, before its callers are answered. */
  readonly onCommitted: (group: BuiltGroup) => void;
}

/** No canonical text is empty. */
const NO_STATEMENT = new Uint8Array();

/** Where the records of this node end: the next seq, and the time of the last group in epoch milliseconds. */
interface End {
  readonly next: number;
  readonly lastAt: number;
}

/**
 * Group commit. Two stages run side by side: while one group's rows are being synced, the next group is ordered and
 * signed; what arrives meanwhile queues and becomes the group after.
 *
 * Crash order: signature, then one atomic synced write of records, receipt, payloads and indexes, then the answers. A
 * crash before the write leaves nothing; after it, a record that nobody was told of, which is harmless. Once halted no
 * signature and no write begins, of a group under way neither.
 *
 * Ownership: `#next`, `#heads` and `#lastAt` are moved by the loop alone, and only for groups that reached the disk.
 */
export class Intake implements AsyncDisposable {
  readonly #options: IntakeOptions;
  readonly #queue = new IntakeQueue();
  readonly #preparation: GroupPreparation;
  readonly #heads: SourceHeads;
  readonly #once: OnceGuard;
  #next: number;
  #lastAt: number;
  #signerFailing = false;
  #isSignerTried = false;
  #loop: Promise<void> | undefined;

  private constructor(options: IntakeOptions, { next, lastAt }: End) {
    this.#options = options;
    this.#heads = new SourceHeads(options.store);
    this.#once = new OnceGuard(options.store);
    const { threads } = options;
    this.#preparation =
      threads === undefined
        ? new PreparationInPlace(this.#queue)
        : new PreparationInThreads(this.#queue, threads, options);
    this.#next = next;
    this.#lastAt = lastAt;
  }

  /** Continues after the last group in the store. */
  static async open(options: IntakeOptions): Promise<Intake> {
    return new Intake(options, await readEnd(options));
  }

  /** Reads again where the store's records end: some were taken back from peers. Only before `start`. */
  async reload(): Promise<void> {
    const { next, lastAt } = await readEnd(this.#options);
    this.#next = next;
    this.#lastAt = lastAt;
    // Their rows were moved by anyone who took the records back.
    await this.#options.counters.reload();
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** Records waiting for their group. */
  get queued(): number {
    return this.#queue.records;
  }

  /** Whether the last group could not be signed. */
  get signerFailing(): boolean {
    return this.#signerFailing;
  }

  /** Records that this node has made so far. */
  get recorded(): number {
    return this.#next - 1;
  }

  /**
   * Resolves once the record is signed and on the disk. Throws `IntakeError`, and what `admit` throws, which is asked
   * last, after duplicates are known; then nothing was recorded.
   */
  async submit(draft: Draft, admit?: () => void): Promise<BuiltRecord> {
    const [built] = await this.submitAll([draft], admit);
    if (built === undefined) throw new IntakeError('store-failed', 'the group lost a record');
    return built;
  }

  /** All of the drafts in one group, or none. Throws `IntakeError`. */
  async submitAll(drafts: readonly Draft[], admit?: () => void): Promise<readonly BuiltRecord[]> {
    this.#queue.requireCapacity(drafts.length);
    if (drafts.length === 0) return [];
    if (drafts.length > MAX_GROUP_RECORDS) return this.#submitMany(drafts, admit);
    // What fits into a group with others waits for it as it is, so that requests of one turn stay together.
    const waiting = this.#waitingOf(drafts);
    return this.#once.guard(drafts, () => {
      admit?.();
      return this.#queue.push(waiting);
    });
  }

  /** Names, commits and encrypts drafts, and records nothing: see `recordAll`. */
  async prepareAll(drafts: readonly Draft[]): Promise<readonly PreparedDraft[]> {
    const prepared: PreparedDraft[] = [];
    await new TimeSlices().each(drafts, (draft) => void prepared.push(this.#prepare(draft)));
    return prepared;
  }

  /**
   * Records what was prepared, however long ago: place and time are given now. All in one group, or none. Whoever
   * prepared sees to it that nothing is recorded twice. Throws `IntakeError`.
   */
  recordAll(prepared: readonly PreparedDraft[]): Promise<readonly BuiltRecord[]> {
    return this.#submitPrepared(prepared);
  }

  /**
   * Throws `IntakeError` where so many more records would not be taken now: without room, without a time to give them,
   * or while the signer fails. Records nothing, and gives no time.
   */
  requireCapacity(count: number): void {
    this.#queue.requireCapacity(count);
    this.#options.timeOf?.(this.#next, this.#lastAt);
    if (!this.#signerFailing) return;
    void this.#trySigner();
    throw new IntakeError('signing-failed', 'the signer fails');
  }

  /** Signs no record any more, nor those under way; every caller is refused with this code. */
  halt(code: HaltCode = 'halted'): void {
    this.#queue.halt(code);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#queue.close();
    await this.#loop;
    // What a disk refuses now is counted again at the next start.
    await this.#options.counters.flush().catch(() => {});
  }

  /** Holds the drafts only until they are prepared: what lives on while they are written costs the collector. */
  #submitMany(drafts: readonly Draft[], admit?: () => void): Promise<readonly BuiltRecord[]> {
    return this.#prepareInSlices(drafts).then((prepared) => this.#submitPrepared(prepared, admit));
  }

  #submitPrepared(prepared: readonly PreparedDraft[], admit?: () => void): Promise<readonly BuiltRecord[]> {
    const places = prepared.map(({ draft }) => draft);
    return this.#once.guard(places, () => {
      admit?.();
      return this.#queue.push(waitingOf(prepared));
    });
  }

  #prepare(draft: Draft): PreparedDraft {
    const { node, cipher, now } = this.#options;
    return prepareDraft(draft, node, cipher, now());
  }

  /** They are prepared once, however often their group is cut again. */
  #waitingOf(drafts: readonly Draft[]): WaitingDrafts {
    const bytes = drafts.reduce((sum, { payload }) => sum + Buffer.byteLength(payload), 0);
    let prepared: readonly PreparedDraft[] | undefined;
    return {
      count: drafts.length,
      bytes,
      drafts,
      prepare: () => (prepared ??= drafts.map((draft) => this.#prepare(draft))),
    };
  }

  async #prepareInSlices(drafts: readonly Draft[]): Promise<readonly PreparedDraft[]> {
    using _room = this.#queue.reserve(drafts.length);
    const { threads } = this.#options;
    // Awaited here: the reservation ends with this function.
    return await (threads === undefined ? this.prepareAll(drafts) : prepareInThreads(drafts, threads, this.#options));
  }

  async #run(): Promise<void> {
    let writing: Promise<BuiltGroup | undefined> = Promise.resolve(undefined);
    let pending: BuiltGroup | undefined;
    for (;;) {
      const prepared = await this.#preparation.next();
      if (prepared === undefined) break;
      const { submissions, drafts } = prepared;
      let group = await this.#attempt(submissions, drafts, pending);
      const written = await writing;
      // The group before was refused by the disk: this one was built on it and must take its places again.
      const fell = pending !== undefined && written === undefined;
      if (fell && group !== undefined) group = await this.#attempt(submissions, drafts, undefined);
      pending = group;
      writing = group === undefined ? Promise.resolve(undefined) : this.#write(group, submissions, drafts);
    }
    await writing;
  }

  /** A signed group on top of `before`, which is still being written; undefined where it cannot be made. */
  async #attempt(
    submissions: readonly Submission[],
    drafts: readonly PreparedDraft[],
    before: BuiltGroup | undefined,
  ): Promise<BuiltGroup | undefined> {
    if (drafts.length === 0) return undefined;
    try {
      await this.#heads.load(drafts.map((prepared) => prepared.draft));
    } catch (error) {
      return refuse(submissions, new IntakeError('store-failed', 'the store could not be read', error));
    }
    const first = before === undefined ? this.#next : before.group.first + before.group.size;
    let at: Timestamp;
    try {
      at = this.#clock(first);
    } catch (error) {
      if (error instanceof IntakeError) return refuse(submissions, error);
      throw error;
    }
    const heads = new TentativeHeads(this.#heads, before?.heads);
    try {
      const { node, signer } = this.#options;
      const key = haltingSigner(signer(), () => this.#queue.requireRunning());
      const group = await buildGroup(node, key, drafts, first, at, heads);
      this.#signerFailing = false;
      return group;
    } catch (error) {
      if (error instanceof IntakeError) return refuse(submissions, error);
      this.#signerFailing = true;
      return refuse(submissions, new IntakeError('signing-failed', 'the record could not be signed', error));
    }
  }

  /**
   * Looks whether the signer that failed signs again: who asks for capacity first records nothing that would tell. What
   * is signed is no statement, and the signature is dropped.
   */
  async #trySigner(): Promise<void> {
    if (this.#isSignerTried) return;
    this.#isSignerTried = true;
    try {
      const signer = haltingSigner(this.#options.signer(), () => this.#queue.requireRunning());
      await signer.sign(NO_STATEMENT, groupStatement.context);
      this.#signerFailing = false;
    } catch {
      // It fails as before.
    } finally {
      this.#isSignerTried = false;
    }
  }

  async #write(
    group: BuiltGroup,
    submissions: readonly Submission[],
    drafts: readonly PreparedDraft[],
  ): Promise<BuiltGroup | undefined> {
    const { store, counters } = this.#options;
    const records = group.records.map(({ record }) => record);
    try {
      await counters.write(records, async (counted) => {
        const rows = await this.#rowsOf(group, drafts, counted);
        this.#queue.requireRunning();
        await store.write(rows);
      });
    } catch (error) {
      if (error instanceof IntakeError) return refuse(submissions, error);
      return refuse(submissions, new IntakeError('store-failed', 'the record could not be stored', error));
    }
    this.#next = group.group.first + group.group.size;
    this.#heads.commit(group.heads);
    group.heads.forgetBefore();
    this.#options.onCommitted(group);
    if (drafts.length > MAX_GROUP_RECORDS) await new TimeSlices().rest();
    let at = 0;
    for (const submission of submissions) {
      submission.resolve(group.records.slice(at, at + submission.count));
      at += submission.count;
    }
    return group;
  }

  /** In slices where there are many. */
  async #rowsOf(
    group: BuiltGroup,
    drafts: readonly PreparedDraft[],
    counted: Iterable<readonly Operation[]>,
  ): Promise<Operation[]> {
    const { projections } = this.#options;
    const slices = new TimeSlices();
    const rows: Operation[] = [];
    const parts = function* (own: Iterable<readonly Operation[]>): Generator<readonly Operation[]> {
      yield* groupRowParts(group, drafts, projections);
      yield* own;
      yield* counted;
    };
    for (const part of parts([this.#once.operations(drafts), this.#idempotencyRows(drafts)])) {
      for (const row of part) rows.push(row);
      if (slices.isOver) await slices.rest();
    }
    return rows;
  }

  #idempotencyRows(drafts: readonly PreparedDraft[]): Operation[] {
    const at = this.#options.now();
    return drafts.flatMap(({ draft: { account, idempotency }, id }) =>
      idempotency === undefined ? [] : [idempotencyOperation(account, idempotency, id, at)],
    );
  }

  /** Time of a group. Throws `IntakeError`. */
  #clock(first: number): Timestamp {
    const { now, timeOf } = this.#options;
    this.#lastAt = timeOf?.(first, this.#lastAt) ?? Math.max(this.#lastAt, now());
    return timestampOf(this.#lastAt);
  }
}

async function readEnd({ store, node }: IntakeOptions): Promise<End> {
  const last = await groupTable.last(store, [node]);
  if (last === undefined) return { next: 1, lastAt: 0 };
  const { first, size, signedAt } = groupStatement.parse(last[1].statement);
  return { next: first + size, lastAt: Date.parse(signedAt) };
}

/** What was prepared before. */
function waitingOf(prepared: readonly PreparedDraft[]): WaitingDrafts {
  const bytes = prepared.reduce((sum, { sealed }) => sum + sealed.ciphertext.length, 0);
  return { count: prepared.length, bytes, drafts: null, prepare: () => prepared };
}

/** Rows of a group, a part at a time. What drafts put beside comes last and in their order. */
function* groupRowParts(
  group: BuiltGroup,
  drafts: readonly PreparedDraft[],
  projections: readonly Projection[],
): Generator<readonly Operation[]> {
  const { records, heads, group: statement } = group;
  yield* groupOperationParts(group);
  yield payloadOperations(group.group.first, drafts);
  yield heads.operations();
  for (const some of runsOf(records)) {
    for (const projection of projections) yield some.flatMap(({ record }) => projection.rowsOf(record));
  }
  for (const some of runsOf(drafts)) {
    yield some.flatMap(({ draft, id }) => draft.besides?.(id) ?? []);
    yield some.flatMap(({ inGroup }) => inGroup?.(statement) ?? []);
  }
}

function* runsOf<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += MAX_GROUP_RECORDS) yield items.slice(at, at + MAX_GROUP_RECORDS);
}
