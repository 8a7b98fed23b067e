import { AuditChainError, type AuditEnd, beginAuditChain, endBefore } from '../../protocol/audit/chain.ts';
import { type AuditDay, dayEnd, dayOf, dayStart, isAuditDay } from '../../protocol/audit/day.ts';
import { type AuditDaySpan, AuditWalk } from '../../protocol/audit/walk.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { timestampOf } from '../../protocol/time.ts';
import { auditAttestedTable, auditHeadProjection } from '../accounts/audit-log/audit-attested.ts';
import {
  auditClosedTable,
  auditDayTable,
  auditEntryTable,
  auditHeadTable,
} from '../accounts/audit-log/audit-tables.ts';
import { CLOSED_ROW } from '../accounts/audit-log/closed-days.ts';
import { lineRange, readLine } from '../accounts/audit-log/audit-reader.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { Check, TableCheck } from './check.ts';
import { type AttestsLost, LOST_WITH_RESTORE, readLostLines } from './lost-lines.ts';
import { recordOfId } from './record-at.ts';
import { countRows, decodeRow, distinctParts, readRows } from './rows.ts';

/**
 * The key-use log: every account's chain from its first line to its head, and each of its days either open or attested,
 * with the numbers and the head that the record tells. Memory does not grow with the log.
 */
export const auditLogCheck: TableCheck = {
  tables: [auditEntryTable, auditHeadTable, auditDayTable, auditClosedTable, auditAttestedTable],
  async run(check) {
    const closed = await closedThrough(check);
    const attestsLost = await readLostLines(check);
    if (check.own === null) check.report.notChecked.push('whose the key-use logs are: the node is not known');
    for await (const account of distinctParts(check.store, auditEntryTable.name)) {
      await new AccountLog(check, account, closed, attestsLost).run();
    }
    await findHeadless(check);
    await findStrayDays(check);
    await findStrayAttested(check, attestsLost);
  },
};

async function closedThrough(check: Check): Promise<AuditDay | null> {
  let closed: AuditDay | null = null;
  for await (const { key, value } of readRows(check, auditClosedTable)) {
    if (key === auditClosedTable.key(CLOSED_ROW)) closed = value ?? null;
    else check.report.problem(auditClosedTable.name, key, 'belongs to nothing');
  }
  return closed;
}

/** One account's chain. What follows a line at fault cannot be told, so the walk ends there. */
class AccountLog {
  readonly #check: Check;
  readonly #account: string;
  readonly #closed: AuditDay | null;
  readonly #attestsLost: AttestsLost;

  constructor(check: Check, account: string, closed: AuditDay | null, attestsLost: AttestsLost) {
    this.#check = check;
    this.#account = account;
    this.#closed = closed;
    this.#attestsLost = attestsLost;
  }

  async run(): Promise<void> {
    this.#check.report.count('auditLogs');
    const walk = await this.#walk();
    if (walk?.span === undefined) return;
    this.#check.report.count('auditEntriesLost', walk.lost);
    await this.#checkDay(walk.span);
    await this.#checkHead(walk.end, walk.span);
  }

  /** The walk at its end; undefined where it did not come so far, which is then reported. */
  async #walk(): Promise<AuditWalk | undefined> {
    const { report } = this.#check;
    let walk: AuditWalk | undefined;
    for await (const { key, value } of readRows(this.#check, auditEntryTable, this.#account)) {
      if (value === undefined) return undefined;
      try {
        walk ??= new AuditWalk(nativeSuite, this.#start(value[0]));
        if (key !== auditEntryTable.key(this.#account, walk.end.seq + 1)) {
          report.problem(auditEntryTable.name, key, `stands where line ${walk.end.seq + 1} must be`);
          return undefined;
        }
        for (const line of value) {
          const ended = walk.take(line);
          if (ended !== undefined) await this.#checkDay(ended);
        }
      } catch (error) {
        if (!(error instanceof AuditChainError)) throw error;
        report.problem(auditEntryTable.name, key, error.message);
        return undefined;
      }
      report.count('auditEntries', value.length);
    }
    return walk;
  }

  #start(line = ''): AuditEnd {
    const { own } = this.#check;
    return own === null ? endBefore(line) : beginAuditChain(nativeSuite, { node: own, account: this.#account });
  }

  /** A day is open, or attested by a record that tells the same. */
  async #checkDay({ day, first, entries, head }: AuditDaySpan): Promise<void> {
    const { store, report } = this.#check;
    const key = auditDayTable.key(day, this.#account);
    const bytes = await store.get(key);
    if (bytes !== undefined) report.count('auditDaysOpen');
    const open = bytes && decodeRow(report, auditDayTable, key, bytes);
    if (open !== undefined && (open.first !== first || open.last !== first + entries - 1 || open.head !== head)) {
      report.problem(auditDayTable.name, key, 'does not tell the lines of its day');
    }
    const attested = await attestedRecord(this.#check, this.#account, day);
    if (attested === undefined) {
      if (bytes === undefined) report.problem(auditDayTable.name, key, 'is missing, and no record attests the day');
      return;
    }
    report.count('auditDaysAttested');
    const { auditEntries, auditHead } = attested.claims;
    if (auditEntries !== entries || auditHead !== head) {
      const detail = `${attested.id} attests another head, or another number of lines, than the log has`;
      const attestedKey = auditAttestedTable.key(this.#account, day);
      const isLost = this.#attestsLost(attested, day);
      if (isLost) report.warning(auditAttestedTable.name, attestedKey, `${detail}: ${LOST_WITH_RESTORE}`);
      else report.problem(auditAttestedTable.name, attestedKey, detail);
    }
    if (this.#closed === null || day > this.#closed) {
      report.problem(auditClosedTable.name, auditClosedTable.key(CLOSED_ROW), `is before ${day}, which is attested`);
    }
  }

  async #checkHead({ seq, hash, at }: AuditEnd, { first }: AuditDaySpan): Promise<void> {
    const { store, report } = this.#check;
    const key = auditHeadTable.key(this.#account);
    const bytes = await store.get(key);
    if (bytes === undefined) return report.problem(auditHeadTable.name, key, 'is missing');
    const head = decodeRow(report, auditHeadTable, key, bytes);
    if (head === undefined) return;
    if (head.seq === seq && head.hash === hash && head.at === at && head.dayFirst === first) return;
    report.problem(auditHeadTable.name, key, `does not stand at line ${seq}, the last of its log`);
  }
}

/** The record that attests an account's day; undefined where none does. */
async function attestedRecord(check: Check, account: string, day: string): Promise<AttestationRecord | undefined> {
  const key = auditAttestedTable.key(account, day);
  const bytes = await check.store.get(key);
  const id = bytes && decodeRow(check.report, auditAttestedTable, key, bytes);
  const record = id === undefined ? undefined : await recordOfId(check.store, id);
  const isOf = record !== undefined && auditHeadProjection.rowsOf(record).some((row) => row.key === key);
  return isOf ? record : undefined;
}

async function findHeadless(check: Check): Promise<void> {
  for await (const { key, parts } of readRows(check, auditHeadTable)) {
    const [account = ''] = parts;
    if (parts.length === 1 && (await check.store.get(auditEntryTable.key(account, 1))) !== undefined) continue;
    check.report.problem(auditHeadTable.name, key, 'belongs to no log');
  }
}

/** The walk has counted the right rows; where there are more, each is asked what it belongs to. */
async function findStrayDays(check: Check): Promise<void> {
  const { report } = check;
  if ((await countRows(check, auditDayTable)) === report.counts.auditDaysOpen) return;
  for await (const { key, parts } of readRows(check, auditDayTable)) {
    const [day = '', account = ''] = parts;
    if (parts.length === 2 && isAuditDay(day) && (await hasDay(check, account, day))) continue;
    report.problem(auditDayTable.name, key, 'belongs to no day of a log');
  }
}

async function findStrayAttested(check: Check, attestsLost: AttestsLost): Promise<void> {
  const { report } = check;
  if ((await countRows(check, auditAttestedTable)) === report.counts.auditDaysAttested) return;
  for await (const { key, parts } of readRows(check, auditAttestedTable)) {
    const [account = '', day = ''] = parts;
    const isKey = parts.length === 2 && isAuditDay(day);
    const attested = isKey ? await attestedRecord(check, account, day) : undefined;
    if (!isKey || attested === undefined) {
      report.problem(auditAttestedTable.name, key, 'leads to no record that attests this day');
    } else if (await beginsAfter(check, account, day)) {
      report.warning(auditAttestedTable.name, key, 'was attested of a log that is lost: the one here begins later');
    } else if (!(await hasDay(check, account, day))) {
      const detail = 'is attested, but the log has no line of this day';
      if (attestsLost(attested, day)) report.warning(auditAttestedTable.name, key, `${detail}: ${LOST_WITH_RESTORE}`);
      else report.problem(auditAttestedTable.name, key, detail);
    }
  }
}

/** Whether an account's log has a line of a day. One that cannot be read was reported with its lines. */
async function hasDay({ store }: Check, account: string, day: AuditDay): Promise<boolean> {
  const period = { from: timestampOf(dayStart(day)), to: timestampOf(dayEnd(day)) };
  try {
    const { first, end } = await lineRange(store, account, period);
    return first < end;
  } catch {
    return true;
  }
}

/** Whether an account has no log that goes back to a day: a node that lost its store begins a new one. */
async function beginsAfter({ store }: Check, account: string, day: AuditDay): Promise<boolean> {
  try {
    const [line] = (await auditEntryTable.get(store, account, 1)) ?? [];
    return line === undefined || dayOf(readLine(line).entry.at) > day;
  } catch {
    return false;
  }
}
