import type { Logger } from 'pino';
import { type AuditDay, auditDay, dayEnd, dayOf } from '../../../protocol/audit/day.ts';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import type { Table } from '../../store/table.ts';
import { PeriodicTask } from '../../concurrency/periodic-task.ts';
import { TimeSlices } from '../../concurrency/time-slices.ts';
import { auditAttestedTable } from './audit-attested.ts';
import type { AuditLog } from './audit-log.ts';
import { type AuditDayRow, auditDayTable } from './audit-tables.ts';

/** What is attested of an account's day: the claims `auditDay`, `auditEntries` and `auditHead` of a `key_event`. */
export interface DailyHead {
  readonly account: string;
  readonly day: AuditDay;
  readonly entries: number;
  /** Hash of the day's last line: stands for all lines before it too. */
  readonly head: Sha256Hash;
}

/** Where a log of days keeps them. */
export interface DayTables {
  /** (day, account) → the day's lines so far. */
  readonly open: Table<AuditDayRow>;
  /** (account, day) → id of the record that attests the day. */
  readonly attested: Table<string>;
}

export interface DailyHeadsOptions {
  readonly store: Store;
  /** The log whose days are attested: the key-use log, or the settlement ledger. */
  readonly auditLog: Pick<AuditLog, 'closeThrough' | 'closedThrough' | 'reopenAfter'>;
  /** Default: those of the key-use log. */
  readonly tables?: DayTables;
  readonly now: () => number;
  /** Whether the clock is known to be right: no day is closed or attested by another. */
  readonly isClockRight: () => boolean;
  readonly log: Logger;
  /**
   * Makes the record of a head, with the rows of `besides` in the record's own atomic write, and with the row of
   * the log's projection. Rejects where nothing was recorded.
   */
  readonly attest: (head: DailyHead, besides: () => readonly Operation[]) => Promise<RecordId>;
}

/** Pause between two looks at the clock, in milliseconds: follows a clock that is set, and a machine that slept. */
const LOOK_MS = 30_000;
/** How long after midnight a day is closed, in milliseconds. */
const GRACE_MS = 5_000;
const DAY_MS = 86_400_000;
/** Heads that are attested side by side: they share a group. */
const TOGETHER = 64;
const AUDIT_TABLES: DayTables = { open: auditDayTable, attested: auditAttestedTable };

/**
 * Attests the head of every account's day, once the day is over; at a start also of the days that were missed.
 *
 * Exactly once: a day with lines has a row from the first line's write until the write of the record that attests it,
 * so whatever stops in between, either the row is there and no record, or the record and no row. A day is closed before
 * it is looked at, so its head stands. Costs one look at an ordered table, however long the history.
 *
 * It is looked by a clock that is known to be right alone. Days that are closed more than a day ahead of one were
 * closed by a clock that was wrong: they are opened again, down to the last one that a record attests.
 */
export class DailyHeads implements AsyncDisposable {
  readonly #options: DailyHeadsOptions;
  readonly #tables: DayTables;
  readonly #task = new PeriodicTask(LOOK_MS, () => this.#look());
  /** Ahead of the clock, and not opened again: a record attests it. */
  #keptClosed: AuditDay | null = null;

  constructor(options: DailyHeadsOptions) {
    this.#options = options;
    this.#tables = options.tables ?? AUDIT_TABLES;
  }

  /** Once records are accepted. */
  start(): void {
    this.#task.start();
  }

  /** Closes the days that are over and attests what is due. Resolves to the number of heads attested; never rejects. */
  look(): Promise<number> {
    return this.#task.now();
  }

  /** Waits for records under way. What is left is attested after the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#task[Symbol.asyncDispose]();
  }

  async #look(): Promise<number> {
    const { isClockRight, log } = this.#options;
    let attested = 0;
    if (!isClockRight()) return attested;
    try {
      await this.#closeDays();
      for await (const due of this.#due()) {
        if (this.#task.signal.aborted) break;
        const before = await this.#attestedAmong(due);
        const outcomes = await Promise.all(due.map((head, i) => this.#attest(head, before[i] === true)));
        attested += outcomes.filter((isAttested) => isAttested).length;
      }
    } catch (error) {
      log.error({ err: error }, 'the days of a log could not be looked at; trying again');
    }
    return attested;
  }

  async #closeDays(): Promise<void> {
    const { auditLog, now } = this.#options;
    const at = now();
    const lastOver = dayOf(timestampOf(at - GRACE_MS - DAY_MS));
    const closed = auditLog.closedThrough;
    if (closed === null || closed < lastOver) return auditLog.closeThrough(lastOver);
    if (dayEnd(closed) <= at + DAY_MS || closed === this.#keptClosed) return;
    const attested = await this.#lastAttested();
    const through = attested !== null && attested > lastOver ? attested : lastOver;
    this.#keptClosed = through;
    if (through >= closed) return;
    await auditLog.reopenAfter(through);
    this.#options.log.warn({ closed, through }, 'days of a log were closed by a clock that was ahead: opened again');
  }

  async #lastAttested(): Promise<AuditDay | null> {
    let last: AuditDay | null = null;
    const slices = new TimeSlices();
    for await (const [[, day = '']] of this.#tables.attested.under(this.#options.store, [])) {
      if (slices.isOver) await slices.rest();
      if (last === null || day > last) last = auditDay(day);
    }
    return last;
  }

  /** Closed days that no record attests, oldest first. */
  async *#due(): AsyncGenerator<readonly DailyHead[]> {
    const { store, auditLog } = this.#options;
    let due: DailyHead[] = [];
    for await (const [[day = '', account = ''], { first, last, head }] of this.#tables.open.under(store, [])) {
      if (auditLog.closedThrough === null || day > auditLog.closedThrough) break;
      due.push({ account, day: auditDay(day), entries: last - first + 1, head });
      if (due.length < TOGETHER) continue;
      yield due;
      due = [];
    }
    if (due.length > 0) yield due;
  }

  /** A store that was rolled back may have got a day's record from its peers, and the day's row from its copy. */
  #attestedAmong(due: readonly DailyHead[]): Promise<readonly boolean[]> {
    const { store } = this.#options;
    const { attested } = this.#tables;
    return Promise.all(due.map(async ({ account, day }) => (await attested.get(store, account, day)) !== undefined));
  }

  /** Its record is asked for before anything else happens, so that records are made in the order of the days. */
  async #attest(head: DailyHead, isAttested: boolean): Promise<boolean> {
    const { store, attest, log } = this.#options;
    const { account, day } = head;
    const openRow = this.#tables.open.del(day, account);
    try {
      if (isAttested) await store.write([openRow]);
      else await attest(head, () => [openRow]);
      return !isAttested;
    } catch (error) {
      log.error({ err: error, account, day }, 'a day of a log was not attested; trying again');
      return false;
    }
  }
}
