import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { DEFAULT_PACK_DAYS, type PackId } from '../../protocol/api/evidence-packs.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { PackQuestion } from '../../protocol/pack/manifest.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { AuditLog } from '../accounts/audit-log/audit-log.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import { PeriodicTask } from '../concurrency/periodic-task.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import type { Intake } from '../intake/intake.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { PackError, type PackWord } from './pack-calls.ts';
import { packDraft } from './pack-draft.ts';
import { PackErasures } from './pack-erasures.ts';
import type { PackFederation } from './pack-federation.ts';
import type { PackFolders } from './pack-folders.ts';
import type { PackMaker } from './pack-maker.ts';
import type { PackQuestions } from './pack-questions.ts';
import { PackRefusal } from './pack-refusal.ts';
import { packFederationTable, packLifetimeTable, type PackRow, packTable } from './pack-tables.ts';

/** Packs in the making, of one account and of all. */
const MAX_MAKING = { account: 4, node: 16 };
/** How often it is looked whether the last records of packs that wait are confirmed, and for how long. In milliseconds. */
const CONFIRMED_LOOK_MS = 500;
const CONFIRMED_WAIT_MS = 24 * 3_600_000;
/** How often files are deleted whose lifetime is over, or whose contents were erased. In milliseconds. */
const SWEEP_MS = 60_000;
const DAY_MS = 86_400_000;
/** When a caller may come back who found too many packs in the making, or no room. In seconds. */
const BUSY_SECONDS = 60;

export interface PacksOptions {
  readonly self: NodeId;
  readonly store: Store;
  readonly folders: PackFolders;
  /** Of all files of packs, in bytes. */
  readonly quotaBytes: number;
  readonly questions: PackQuestions;
  readonly federation: Pick<PackFederation, 'staleMember'>;
  readonly maker: Pick<PackMaker, 'isReady' | 'make'>;
  readonly intake: Pick<Intake, 'submit'>;
  readonly auditLog: Pick<AuditLog, 'recordWith'>;
  readonly now: () => number;
  /** Whether the clock is known to be right: no file is over by another. */
  readonly isClockRight: () => boolean;
  readonly log: Logger;
}

/** Who asks for a pack. */
export interface PackAsker {
  /** Id of the API key. */
  readonly key: string;
  /** Who acts by it. */
  readonly by: string;
  /** Nodes that speak for the account, this one among them. */
  readonly nodes: readonly NodeId[];
}

/** How far a pack is, in records. */
export interface PackProgress {
  readonly done: number;
  readonly total: number | null;
}

/** A pack that waits. */
interface Queued {
  readonly account: string;
  readonly id: PackId;
  /** By a steady clock, in milliseconds. */
  readonly since: number;
}

/** The pack in the making. */
interface Making {
  readonly account: string;
  readonly id: PackId;
  readonly isDisclosed: boolean;
  readonly ending: AbortController;
  progress: PackProgress;
}

/**
 * Packs of evidence: what was asked, what answers it, and the queue of those in the making, one at a time.
 *
 * Ownership: a row is written under the lock of its account. Crash order: a row says `ready` once the file is whole and
 * its record is made; every other file is of a pack that is still to be made, and is gone on with at the next start.
 */
export class Packs implements AsyncDisposable {
  readonly #options: PacksOptions;
  readonly #erasures: PackErasures;
  readonly #locks = new KeyedLock();
  readonly #queue: Queued[] = [];
  readonly #sweeps: PeriodicTask<void>;
  readonly #ending = new AbortController();
  #making: Making | undefined;
  #running: Promise<void> | undefined;
  /** Accounts of the packs whose files are there. */
  readonly #ready = new Map<PackId, string>();
  #usedBytes = 0;

  constructor(options: PacksOptions) {
    this.#options = options;
    this.#erasures = new PackErasures(options);
    this.#sweeps = new PeriodicTask(SWEEP_MS, () => this.#sweep());
  }

  /** Goes on with what was in the making when the node stopped, and begins to delete what is over. */
  async start(): Promise<void> {
    const held = new Set<string>();
    const slices = new TimeSlices();
    for await (const [[account = ''], { id, state, made }] of packTable.under(this.#options.store, [])) {
      if (slices.isOver) await slices.rest();
      if (state === 'gone' || state === 'failed') continue;
      held.add(id);
      if (state === 'ready') this.#noteFile(account, id, made?.bytes);
      else this.#enqueue(account, id);
    }
    await this.#options.folders.removeOthers(held);
    this.#sweeps.start();
  }

  /**
   * The pack that answers a question: the one that is there, or one that is made from now on. Throws `PackRefusal`
   * `as-of-unavailable` and `packs-busy`.
   */
  ask(question: PackQuestion, asker: PackAsker): Promise<PackRow> {
    return this.#locks.exclusive(question.account, async () => {
      const known = await this.#options.questions.known(question);
      if (known !== undefined) return this.#again(known, asker);
      this.#requireRoom(question.account);
      const { row, operations } = await this.#options.questions.fix(question, asker.nodes, asker.by);
      await this.#write(row, operations, asker.key);
      this.#enqueue(question.account, row.id);
      return row;
    });
  }

  /** The packs of an account whose files are there or in the making, the newest first. */
  async list(account: string): Promise<readonly PackRow[]> {
    const rows = await Array.fromAsync(packTable.under(this.#options.store, [account], { reverse: true }));
    return rows.map(([, row]) => row).filter(({ state }) => state !== 'gone');
  }

  /** Throws `PackRefusal` `pack-not-found`. */
  async get(account: string, id: PackId): Promise<PackRow> {
    const row = await packTable.get(this.#options.store, account, id);
    if (row === undefined || row.state === 'gone') throw new PackRefusal('pack-not-found', 'There is no such pack.');
    return row;
  }

  progressOf({ id, state, made }: PackRow): PackProgress {
    if (this.#making?.id === id) return this.#making.progress;
    if (state === 'ready' && made !== null) return { done: made.records, total: made.records };
    return { done: 0, total: null };
  }

  /** Path of the file of a pack. Throws `PackRefusal` `pack-not-found`, `pack-not-ready` and `as-of-unavailable`. */
  async file(account: string, id: PackId): Promise<{ readonly path: string; readonly row: PackRow }> {
    const row = await this.get(account, id);
    const { folders, questions } = this.#options;
    if (row.state !== 'ready') throw new PackRefusal('pack-not-ready', `The pack is ${row.state}.`);
    if (await this.#erasures.mayDisclose(row)) {
      await this.#locks.exclusive(account, () => this.#requeueErased(account, id));
      throw new PackRefusal('pack-not-ready', 'Contents of the pack were erased; it is made again without them.');
    }
    if ((await folders.sizeOf(id)) === row.made?.bytes) return { path: folders.fileOf(id), row };
    questions.requireSameMaker(row);
    await this.#locks.exclusive(account, () => this.#requeue(account, id));
    throw new PackRefusal('pack-not-ready', 'The file of the pack was lost; it is made again.');
  }

  /** Deletes the file of a pack, or ends its making. What it answers stays fixed. Throws `PackRefusal`. */
  async remove(account: string, id: PackId): Promise<void> {
    await this.#locks.exclusive(account, async () => this.#drop(await this.get(account, id)));
  }

  async lifetimeDays(account: string): Promise<number> {
    return (await packLifetimeTable.get(this.#options.store, account)) ?? DEFAULT_PACK_DAYS;
  }

  async setLifetime(account: string, days: number): Promise<void> {
    await this.#options.store.write([packLifetimeTable.put([account], days)]);
  }

  /** Own records are on the disk: where they erase contents, packs that disclose some are deleted and made again. */
  noteRecords(records: readonly { readonly record: Pick<AttestationRecord, 'account' | 'kind'> }[]): void {
    const erasures = records.filter(({ record: { kind } }) => kind === 'erasure').map(({ record }) => record.account);
    for (const account of new Set(erasures)) {
      this.#noteErasure(account).catch((error: unknown) => {
        this.#options.log.error({ err: error, account }, 'packs with erased contents were not deleted');
      });
    }
  }

  /**
   * Contents of the account were erased: whatever discloses contents of its records is deleted at once, and made again
   * without them.
   */
  async #noteErasure(account: string): Promise<void> {
    if (this.#making?.account === account && this.#making.isDisclosed) this.#making.ending.abort();
    await this.#locks.exclusive(account, async () => {
      for (const row of await this.list(account)) {
        if (row.question.disclosure && row.state !== 'failed') await this.#requeue(account, row.id);
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#sweeps[Symbol.asyncDispose]();
    await this.#running;
  }

  /** The same question again: the file that is there, unless something in it is so no more. */
  async #again(row: PackRow, asker: PackAsker): Promise<PackRow> {
    const { account } = row.question;
    if (row.state === 'queued' || row.state === 'building') return row;
    if (row.state === 'ready' && (await this.#isCurrent(row))) return row;
    this.#options.questions.requireSameMaker(row);
    this.#requireRoom(account);
    const queued: PackRow = { ...row, askedBy: asker.by, state: 'queued', failure: null };
    await this.#write(queued, [packTable.put([account, row.id], queued)], asker.key);
    await this.#forgetFile(row);
    this.#enqueue(account, row.id);
    return queued;
  }

  /** Whether its file is there, its checkpoints count, and nothing of the account was erased since. */
  async #isCurrent(row: PackRow): Promise<boolean> {
    const { store, folders, federation } = this.#options;
    if ((await folders.sizeOf(row.id)) !== row.made?.bytes) return false;
    const text = await packFederationTable.get(store, row.id);
    const isWitnessed = text !== undefined && federation.staleMember(text) === undefined;
    return isWitnessed && row.erasures === (await this.#erasures.countOf(row));
  }

  /** A pack that discloses contents leaves a line in the account's log, in the same write. */
  async #write({ id, question }: PackRow, operations: readonly Operation[], by: string): Promise<void> {
    if (!question.disclosure) return this.#options.store.write(operations);
    const facts = { action: 'evidence-pack.disclosed', address: null, by, requestId: null, status: null, subject: id };
    await this.#options.auditLog.recordWith(question.account, [facts], operations);
  }

  #requireRoom(account: string): void {
    const waiting = [...this.#queue, ...(this.#making === undefined ? [] : [this.#making])];
    const own = waiting.filter((one) => one.account === account);
    if (own.length >= MAX_MAKING.account || waiting.length >= MAX_MAKING.node) {
      throw new PackRefusal('packs-busy', 'Too many packs are in the making.', BUSY_SECONDS);
    }
    if (this.#usedBytes >= this.#options.quotaBytes) {
      throw new PackRefusal('packs-busy', 'The node has no room for more packs: delete some.', BUSY_SECONDS);
    }
  }

  /** Under the account's lock: from now on it is made again, and nothing of its file is left. */
  async #requeue(account: string, id: PackId): Promise<void> {
    const row = await packTable.get(this.#options.store, account, id);
    if (row === undefined || row.state === 'gone') return;
    await this.#options.store.write([packTable.put([account, id], { ...row, state: 'queued', failure: null })]);
    await this.#forgetFile(row);
    this.#enqueue(account, id);
  }

  /** Under the account's lock: the same where it may disclose what was erased since it was made. */
  async #requeueErased(account: string, id: PackId): Promise<void> {
    const row = await packTable.get(this.#options.store, account, id);
    if (row?.state === 'ready' && (await this.#erasures.mayDisclose(row))) await this.#requeue(account, id);
  }

  async #drop(row: PackRow): Promise<void> {
    const { account } = row.question;
    if (this.#making?.id === row.id) this.#making.ending.abort();
    const at = this.#queue.findIndex(({ id }) => id === row.id);
    if (at >= 0) this.#queue.splice(at, 1);
    await this.#options.store.write([packTable.put([account, row.id], { ...row, state: 'gone', failure: null })]);
    await this.#forgetFile(row);
  }

  #noteFile(account: string, id: PackId, bytes = 0): void {
    this.#ready.set(id, account);
    this.#usedBytes += bytes;
  }

  async #forgetFile({ id, made }: PackRow): Promise<void> {
    if (this.#ready.delete(id)) this.#usedBytes -= made?.bytes ?? 0;
    await this.#options.folders.remove(id);
  }

  #enqueue(account: string, id: PackId): void {
    if (!this.#queue.some((one) => one.id === id)) this.#queue.push({ account, id, since: performance.now() });
    this.#running ??= this.#run();
  }

  /** One pack after the other, until none waits. Never rejects. */
  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (this.#queue.length > 0 && !signal.aborted) {
      const next = await this.#nextReady();
      if (next === undefined) await sleep(CONFIRMED_LOOK_MS, undefined, { signal }).catch(() => undefined);
      else await this.#takeOn(next);
    }
    this.#running = undefined;
  }

  async #takeOn({ account, id }: Queued): Promise<void> {
    try {
      const row = await this.#begin(account, id);
      if (row !== undefined) await this.#make(row);
    } catch (error) {
      this.#options.log.error({ err: error, pack: id }, 'a pack of evidence was not made');
    }
    this.#making = undefined;
  }

  /**
   * The first pack whose last records are confirmed, or that waited too long for that: none waits behind another one's
   * records.
   */
  async #nextReady(): Promise<Queued | undefined> {
    for (const queued of this.#queue) {
      if (!(await this.#isDue(queued))) continue;
      const at = this.#queue.indexOf(queued);
      if (at >= 0) return this.#queue.splice(at, 1)[0];
    }
    return undefined;
  }

  async #isDue({ account, id, since }: Queued): Promise<boolean> {
    const { store, maker, log } = this.#options;
    try {
      const row = await packTable.get(store, account, id);
      return row === undefined || performance.now() - since > CONFIRMED_WAIT_MS || (await maker.isReady(row));
    } catch (error) {
      log.warn({ err: error, pack: id }, 'it could not be told whether a pack can be made');
      return false;
    }
  }

  /** The row of a pack that is made from now on; undefined where it is not to be made any more. */
  #begin(account: string, id: PackId): Promise<PackRow | undefined> {
    const { store, folders, questions } = this.#options;
    return this.#locks.exclusive(account, async () => {
      const queued = await packTable.get(store, account, id);
      if (queued === undefined || (queued.state !== 'queued' && queued.state !== 'building')) return undefined;
      const erasures = await this.#erasures.countOf(queued);
      const building: PackRow = { ...questions.adopted(queued), state: 'building', erasures };
      // Of what was written before, some contents may have been erased since; and other software writes other bytes.
      const isErased = queued.question.disclosure && erasures !== queued.erasures;
      if (isErased || building.generator !== queued.generator) await folders.remove(id);
      await store.write([packTable.put([account, id], building)]);
      const ending = new AbortController();
      const progress = { done: 0, total: null };
      this.#making = { account, id, isDisclosed: queued.question.disclosure, ending, progress };
      return building;
    });
  }

  async #make(row: PackRow): Promise<void> {
    const { folders, maker, questions, log } = this.#options;
    const own = this.#making?.ending.signal ?? this.#ending.signal;
    try {
      questions.requireSameMaker(row);
      const { word, replaced } = await maker.make(row, {
        folder: folders.of(row.id),
        signal: AbortSignal.any([this.#ending.signal, own]),
        onProgress: (done, total, bytes) => this.#noteProgress(done, total, bytes),
      });
      if (word.kind === 'failed') await this.#fail({ ...row, replaced }, word.reason);
      else await this.#finish({ ...row, replaced }, word);
    } catch (error) {
      // A node that stops goes on at its next start; who ended it otherwise has written what becomes of it.
      if (this.#ending.signal.aborted || own.aborted) return;
      if (error instanceof PackRefusal) return this.#fail(row, error.message);
      log.error({ err: error, pack: row.id }, 'a pack of evidence failed');
      await this.#fail(row, 'the node could not make it');
    }
  }

  /** Throws `PackError` where there is no room. */
  #noteProgress(done: number, total: number, bytes: number): void {
    if (this.#making !== undefined) this.#making.progress = { done, total };
    // The container holds all of it once more.
    if (this.#usedBytes + 2 * bytes <= this.#options.quotaBytes) return;
    throw new PackError('the node has no room for it: delete other packs, or ask for a shorter period');
  }

  /** The record of the manifest, and then the row that says that the pack is ready. */
  async #finish(row: PackRow, { manifestHash, records, bytes }: Extract<PackWord, { kind: 'made' }>): Promise<void> {
    const { folders, intake, now } = this.#options;
    const { account } = row.question;
    const kept = row.made?.manifestHash === manifestHash ? row.made.attestationId : undefined;
    const attestationId = kept ?? (await intake.submit(packDraft(account, row.id, manifestHash))).record.id;
    const made = { manifestHash, attestationId, records, bytes, readyAt: timestampOf(now()) };
    await folders.keepFile(row.id);
    if (await this.#settle(row, { state: 'ready', failure: null, made })) this.#noteFile(account, row.id, bytes);
  }

  async #fail(row: PackRow, failure: string): Promise<void> {
    if (await this.#settle(row, { state: 'failed', failure })) await this.#options.folders.remove(row.id);
  }

  /** Whether the pack was still in the making: what became of it meanwhile stands. */
  #settle(row: PackRow, end: Pick<PackRow, 'failure' | 'state'> & Partial<Pick<PackRow, 'made'>>): Promise<boolean> {
    const { account } = row.question;
    return this.#locks.exclusive(account, async () => {
      const current = await packTable.get(this.#options.store, account, row.id);
      if (current?.state !== 'building') return false;
      await this.#options.store.write([packTable.put([account, row.id], { ...row, ...end })]);
      return true;
    });
  }

  /**
   * Deletes files whose lifetime is over, and those of packs that disclose what was erased, where the node stopped or
   * its disk failed before they were. Never rejects.
   */
  async #sweep(): Promise<void> {
    const { store, now, isClockRight, log } = this.#options;
    try {
      for (const [id, account] of this.#ready) {
        await this.#locks.exclusive(account, async () => {
          const row = await packTable.get(store, account, id);
          if (row?.state !== 'ready' || row.made === null) return;
          const end = Date.parse(row.made.readyAt) + (await this.lifetimeDays(account)) * DAY_MS;
          if (end <= now() && isClockRight()) await this.#drop(row);
          else await this.#requeueErased(account, id);
        });
      }
    } catch (error) {
      log.warn({ err: error }, 'packs that are over, or whose contents were erased, were not deleted');
    }
  }
}
