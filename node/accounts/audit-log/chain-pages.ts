import { beginAuditChain, extendAuditChain } from '../../../protocol/audit/chain.ts';
import { dayOf, isSameDay } from '../../../protocol/audit/day.ts';
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
import { auditDayTable, auditEntryTable, auditHeadTable, type ChainEnd } from './audit-tables.ts';
import type { WaitingEntry } from './waiting-entries.ts';

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

/** Whatever the caller sent, a line can be written: one that cannot would keep all that comes after it from the disk. */
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
