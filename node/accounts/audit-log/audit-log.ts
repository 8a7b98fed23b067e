import type { Logger } from 'pino';
import { beginAuditChain, extendAuditChain } from '../../../protocol/audit/chain.ts';
import { type AuditDay, dayOf, isSameDay } from '../../../protocol/audit/day.ts';
import {
  type AuditFacts,
  MAX_ACTION,
  MAX_ADDRESS,
  MAX_BY,
  MAX_REQUEST_ID,
  MAX_SUBJECT,
} from '../../../protocol/audit/entry.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import type { Operation } from '../../store/operation.ts';
import { RowCache } from '../../store/row-cache.ts';
import type { Store } from '../../store/store.ts';
import { MINUTE_MS, SlidingWindow } from '../limits/sliding-window.ts';
import { auditClosedTable, auditDayTable, auditEntryTable, auditHeadTable, type ChainEnd } from './audit-tables.ts';
import { ClosedDays } from './closed-days.ts';
import { type Waiting, WaitingEntries, type WaitingEntry } from './waiting-entries.ts';

/** Lines of one row at most: finding one line in it stays cheap. */
export const PAGE_LINES = 256;

/** The end of a chain that has no line yet. */
export function firstEnd(node: NodeId, account: string): ChainEnd {
  return { ...beginAuditChain(nativeSuite, { node, account }), dayFirst: 1 };
}

/**
 * The rows that put entries behind the end of an account's chain: lines, the days that they fall on, and the new head.
 * No line gets a time before `floor`. Touches nothing durable.
 */
export function extendChain(
  account: string,
  before: ChainEnd,
  entries: readonly WaitingEntry[],
  floor: Timestamp,
): { readonly account: string; readonly operations: Operation[]; readonly end: ChainEnd } {
  const operations: Operation[] = [];
  let end = before;
  let page: string[] = [];
  let time = floor;
  let timeOf = Number.NaN;
  for (const [i, { at, facts }] of entries.entries()) {
    if (at !== timeOf) time = timestampOf(at);
    timeOf = at;
    const next = extendAuditChain(nativeSuite, end, fitting(facts), time > floor ? time : floor);
    const isNewDay = end.at === null || !isSameDay(end.at, next.end.at);
    if (isNewDay && i > 0) operations.push(...dayRow(account, end));
    end = { ...next.end, dayFirst: isNewDay ? next.end.seq : end.dayFirst };
    page.push(next.line);
    if (page.length === PAGE_LINES || i === entries.length - 1) {
      operations.push(auditEntryTable.put([account, end.seq - page.length + 1], page));
      page = [];
    }
  }
  return { account, operations: [...operations, ...dayRow(account, end), ...headRow(account, end)], end };
}

function dayRow(account: string, { seq, hash, at, dayFirst }: ChainEnd): Operation[] {
  return at === null ? [] : [auditDayTable.put([dayOf(at), account], { first: dayFirst, last: seq, head: hash })];
}

function headRow(account: string, { seq, hash, at, dayFirst }: ChainEnd): Operation[] {
  return at === null ? [] : [auditHeadTable.put([account], { seq, hash, at, dayFirst })];
}

/**
 * Whatever the caller sent, a line can be written: one that cannot would keep all that comes after it from the disk.
 */
function fitting(facts: AuditFacts): AuditFacts {
  return {
    ...facts,
    action: fittingText(facts.action, MAX_ACTION),
    address: facts.address === null ? null : fittingText(facts.address, MAX_ADDRESS),
    by: fittingText(facts.by, MAX_BY),
    requestId: facts.requestId === null ? null : fittingText(facts.requestId, MAX_REQUEST_ID),
    subject: facts.subject === null ? null : fittingText(facts.subject, MAX_SUBJECT),
  };
}

function fittingText(text: string, most: number): string {
  return (text.length > most ? text.slice(0, most) : text).toWellFormed();
}

/** Ends kept in memory; the others are read back when their account is heard of again. */
const MAX_CACHED_ENDS = 10_000;

/** Ends of the accounts' chains that are on the disk, cached. */
class ChainEnds {
  readonly #store: Store;
  readonly #node: NodeId;
  readonly #cache = new RowCache<ChainEnd>(MAX_CACHED_ENDS);

  constructor(store: Store, node: NodeId) {
    this.#store = store;
    this.#node = node;
  }

  /** Makes sure that `get` can answer for these accounts. */
  async load(accounts: readonly string[]): Promise<void> {
    await this.#cache.load(new Set(accounts), (missing) =>
      Promise.all(missing.map(async (account) => [account, await this.#read(account)] as const)),
    );
  }

  async #read(account: string): Promise<ChainEnd> {
    return (await auditHeadTable.get(this.#store, account)) ?? firstEnd(this.#node, account);
  }

  /** The end of a loaded account's chain. */
  get(account: string): ChainEnd {
    const end = this.#cache.get(account);
    if (end === undefined) throw new RangeError(`the chain of ${account} was not loaded`);
    return end;
  }

  /** Called once the rows are on the disk. */
  move(account: string, end: ChainEnd): void {
    this.#cache.set(account, end);
  }
}

export interface AuditLogOptions {
  readonly node: NodeId;
  readonly store: Store;
  readonly now: () => number;
  /** Whether the clock is known to be right. */
  readonly isClockRight: () => boolean;
  readonly log: Logger;
  /** A steady clock in milliseconds. */
  readonly steady?: () => number;
  /** Entries that may wait for the disk. */
  readonly maxWaiting?: number;
}

/** How long an entry waits for the disk: what a kill of the process can lose. In milliseconds. */
export const FLUSH_MS = 250;
/** Entries that are written without waiting so long. */
export const FLUSH_ENTRIES = 1024;
/** Requests over a limit that an account's log tells of one by one, in any minute; the rest are counted. */
export const LIMITED_PER_MINUTE = 60;
/** Accounts whose last minute over a limit is kept apart. */
const MAX_LIMITED = 20_000;
const TOO_MANY_REQUESTS = 429;
/** Pause after a write that the store refused. In milliseconds. */
const RETRY_MS = 2_000;
/** Entries of one write: building it keeps the event loop for about two milliseconds. */
export const WRITE_ENTRIES = 512;

/**
 * The key-use log: for each account one append-only chain of what its keys did, hash by hash.
 *
 * A use is noted in memory and reaches the disk within `FLUSH_MS`; a kill of the process loses at most that. What the
 * store refuses is kept and written later, up to a bound past which the log itself says how many entries are missing.
 * So it does of requests over a limit, which nothing else bounds: who sends them cannot fill the disk with lines. A
 * change of a key or an account is on the disk when its promise resolves.
 *
 * Crash order: lines, day and head of an account land in one atomic write, so a chain on the disk is always whole.
 * Ownership: one write at a time, in `#inOrder`, moves `#ends` and `#closedDays`, and only once it is on the disk.
 */
export class AuditLog implements AsyncDisposable {
  readonly #options: AuditLogOptions;
  readonly #ends: ChainEnds;
  readonly #waiting: WaitingEntries;
  readonly #limited = new SlidingWindow({ windowMs: MINUTE_MS, maxSubjects: MAX_LIMITED });
  readonly #steady: () => number;
  readonly #closedDays: ClosedDays;
  #last: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isFlushing = false;
  #isFailing = false;
  #isEnding = false;

  private constructor(options: AuditLogOptions, closedDays: ClosedDays) {
    this.#options = options;
    this.#ends = new ChainEnds(options.store, options.node);
    this.#waiting = new WaitingEntries(options.maxWaiting);
    this.#steady = options.steady ?? (() => performance.now());
    this.#closedDays = closedDays;
  }

  static async open(options: AuditLogOptions): Promise<AuditLog> {
    return new AuditLog(options, await ClosedDays.open({ ...options, table: auditClosedTable }));
  }

  /** Entries that are not on the disk yet. */
  get waiting(): number {
    return this.#waiting.count;
  }

  /** Whether the last write was refused. */
  get failing(): boolean {
    return this.#isFailing;
  }

  /** The last closed day; null before the first. */
  get closedThrough(): AuditDay | null {
    return this.#closedDays.through;
  }

  /** A use of a key. Costs well under a microsecond; the line is made when it is written. */
  note(account: string, facts: AuditFacts): void {
    const at = this.#time();
    if (this.#isOneTooMany(account, facts)) this.#waiting.countLost(account, at);
    else this.#waiting.add(account, { at, facts });
    if (this.#waiting.count >= FLUSH_ENTRIES && !this.#isFailing) void this.#flushSoon();
    else this.#arm(FLUSH_MS);
  }

  /**
   * Something that has happened. Resolves once it is on the disk. Where the store refuses it, this throws `StoreError`,
   * and the entry waits with the others: the log does not forget what cannot be undone.
   */
  async record(account: string, facts: AuditFacts): Promise<void> {
    this.#waiting.keep(account, { at: this.#time(), facts });
    this.#arm(FLUSH_MS);
    await this.flush();
  }

  /**
   * What happens by these operations. Entries and operations land in one atomic write, behind what was noted of the
   * account before. Where the store refuses, this throws `StoreError`, and neither is there.
   */
  async recordWith(account: string, facts: readonly AuditFacts[], operations: readonly Operation[]): Promise<void> {
    const at = this.#time();
    const entries = facts.map((each) => ({ at, facts: each }));
    await this.#inOrder(async () => {
      const before = this.#waiting.takeOf(account);
      try {
        await this.#write(new Map([[account, [...before, ...entries]]]), operations);
      } catch (error) {
        this.#waiting.giveBack(new Map([[account, before]]));
        throw error;
      }
    });
  }

  /** Resolves once all that was noted before is on the disk. Throws `StoreError`; what is not there still waits. */
  flush(): Promise<void> {
    return this.#inOrder(() => this.#drain());
  }

  /** After this, no line of the day or of one before it is written: its head stands. Throws `StoreError`. */
  closeThrough(day: AuditDay): Promise<void> {
    return this.#inOrder(async () => {
      if (this.#closedDays.has(day)) return;
      await this.#drain();
      await this.#closedDays.closeThrough(day);
    });
  }

  /**
   * Takes back that days after this one are closed, as a clock that was ahead had them. Only where no record attests
   * one of them: lines of it are written again. Throws `StoreError`.
   */
  reopenAfter(day: AuditDay): Promise<void> {
    return this.#inOrder(() => this.#closedDays.reopenAfter(day));
  }

  /** Writes what waits. Only when nothing is noted any more, and before the store is closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#timer);
    try {
      await this.flush();
    } catch (error) {
      this.#options.log.error({ err: error, lost: this.#waiting.count }, 'entries of the key-use log were lost');
    }
  }

  #time(): number {
    return this.#closedDays.lineTime();
  }

  #isOneTooMany(account: string, { status }: AuditFacts): boolean {
    return status === TOO_MANY_REQUESTS && !this.#limited.take(account, LIMITED_PER_MINUTE, this.#steady()).allowed;
  }

  #arm(milliseconds: number): void {
    if (this.#isEnding || this.#isFlushing) return;
    this.#timer ??= setTimeout(() => void this.#flushSoon(), this.#isFailing ? RETRY_MS : milliseconds);
  }

  /** The flush of the loop: never rejects, never runs twice at once, and comes again while something waits. */
  async #flushSoon(): Promise<void> {
    if (this.#isFlushing || this.#isEnding) return;
    this.#isFlushing = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      await this.flush();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#options.log.error({ err: error }, 'the key-use log could not be written; it waits');
      this.#isFailing = true;
    }
    this.#isFlushing = false;
    if (this.#waiting.count > 0) this.#arm(FLUSH_MS);
  }

  async #drain(): Promise<void> {
    const left = [...pieces(this.#waiting.takeAll(), WRITE_ENTRIES)];
    try {
      for (let piece = left[0]; piece !== undefined; piece = left[0]) {
        await this.#write(piece, []);
        left.shift();
      }
    } catch (error) {
      for (const piece of left.toReversed()) this.#waiting.giveBack(piece);
      throw error;
    }
  }

  async #write(entries: Waiting, besides: readonly Operation[]): Promise<void> {
    await this.#ends.load([...entries.keys()]);
    const floor = timestampOf(this.#closedDays.end);
    const extended = [...entries].map(([account, list]) => extendChain(account, this.#ends.get(account), list, floor));
    await this.#options.store.write([...extended.flatMap(({ operations }) => operations), ...besides]);
    for (const { account, end } of extended) this.#ends.move(account, end);
  }

  #inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

/** The same entries in pieces of at most `most`, each account's in order. */
function* pieces(entries: Waiting, most: number): Generator<Waiting> {
  let piece = new Map<string, readonly WaitingEntry[]>();
  let space = most;
  for (const [account, list] of entries) {
    for (let at = 0; at < list.length;) {
      const part = list.slice(at, at + space);
      piece.set(account, part);
      at += part.length;
      space -= part.length;
      if (space > 0) continue;
      yield piece;
      piece = new Map();
      space = most;
    }
  }
  if (piece.size > 0) yield piece;
}
