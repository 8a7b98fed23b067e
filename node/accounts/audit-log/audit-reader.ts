import { type AuditLine, auditLine } from '../../../protocol/audit/entry.ts';
import type { Timestamp } from '../../../protocol/time.ts';
import type { Reads } from '../../store/store.ts';
import { AuditDamagedError, auditEntryTable, auditHeadTable, readLinesAt } from './audit-tables.ts';

/** Lines of an account's chain by counter: `first` included, `end` not. */
export interface LineRange {
  readonly first: number;
  readonly end: number;
}

/** From a time on, up to and without another. */
export interface Period {
  readonly from?: Timestamp | undefined;
  readonly to?: Timestamp | undefined;
}

export interface AuditPageQuery extends Period {
  readonly order: 'newest' | 'oldest';
  /** Counter of the line that the page before ended with. */
  readonly after?: number | undefined;
  readonly limit: number;
}

/** Rows read at once. No iterator of the store outlives them, so that a slow reader holds none open. */
const ROWS_AT_ONCE = 64;
/** Characters after which what was read so far is passed on. */
const PIECE_CHARACTERS = 256 << 10;

/**
 * Lines of an account on the disk in a period. Looks at a few rows, however long the chain is. Throws
 * `AuditDamagedError`.
 */
export async function lineRange(store: Reads, account: string, { from, to }: Period): Promise<LineRange> {
  const head = await auditHeadTable.get(store, account);
  const end = (head?.seq ?? 0) + 1;
  const first = from === undefined ? 1 : await firstSince(store, account, from, end);
  return { first, end: to === undefined ? end : await firstSince(store, account, to, end) };
}

/** A page of an account's chain, and whether there is more behind it. */
export async function readAuditPage(
  store: Reads,
  account: string,
  query: AuditPageQuery,
): Promise<{ readonly lines: readonly string[]; readonly hasMore: boolean }> {
  const range = await lineRange(store, account, query);
  const { order, after, limit } = query;
  if (order === 'oldest') {
    const first = after === undefined ? range.first : Math.max(range.first, after + 1);
    const end = Math.min(range.end, first + limit);
    return { lines: await readLines(store, account, { first, end }), hasMore: end < range.end };
  }
  const end = after === undefined ? range.end : Math.min(range.end, after);
  const first = Math.max(range.first, end - limit);
  const lines = await readLines(store, account, { first, end });
  return { lines: lines.toReversed(), hasMore: first < end && first > range.first };
}

/** Lines in order, a few hundred kilobytes at a time. */
export async function* readPieces(store: Reads, account: string, range: LineRange): AsyncGenerator<readonly string[]> {
  for (let { first } = range; first < range.end;) {
    const lines: string[] = [];
    let characters = 0;
    for await (const row of rowsFrom(store, account, { first, end: range.end })) {
      for (const line of row) {
        lines.push(line);
        characters += line.length;
      }
      if (characters > PIECE_CHARACTERS) break;
    }
    first += lines.length;
    yield lines;
  }
}

async function readLines(store: Reads, account: string, range: LineRange): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const piece of readPieces(store, account, range)) lines.push(...piece);
  return lines;
}

/** The asked lines of up to `ROWS_AT_ONCE` rows, at least one line. Throws `AuditDamagedError`. */
async function* rowsFrom(store: Reads, account: string, { first, end }: LineRange): AsyncGenerator<readonly string[]> {
  let { first: next } = await readLinesAt(store, account, first);
  const rows = auditEntryTable.under(store, [account], { from: next, limit: ROWS_AT_ONCE });
  for await (const [[part], lines] of rows) {
    if (next >= end) return;
    if (Number(part) !== next) throw new AuditDamagedError(`line ${next} of the key-use log of ${account} is missing`);
    yield lines.slice(Math.max(0, first - next), end - next);
    next += lines.length;
  }
}

/**
 * Counter of the first line that is not before a time; `end` where there is none. Times never go back along a chain.
 */
async function firstSince(store: Reads, account: string, time: Timestamp, end: number): Promise<number> {
  let low = 1;
  let high = end;
  while (low < high) {
    const { first, lines } = await readLinesAt(store, account, low + Math.floor((high - low) / 2));
    if (timeOf(lines[0]) >= time) high = first;
    else if (timeOf(lines.at(-1)) < time) low = first + lines.length;
    else return first + lines.findIndex((line) => timeOf(line) >= time);
  }
  return low;
}

function timeOf(line = ''): Timestamp {
  return readLine(line).entry.at;
}

/** A stored line. Throws `StatementError` where it does not read. */
export function readLine(line: string): AuditLine {
  return auditLine.parse(line);
}
