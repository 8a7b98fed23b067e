import type { Sha256Hash } from '../hash.ts';
import type { Suite } from '../suite/suite.ts';
import { type AuditChainName, type AuditEnd, beginAuditChain, endBefore, followAuditChain } from './chain.ts';
import { type AuditDay, dayOf } from './day.ts';

/** The lines of one day: what the day's attested head says, where all of them are there. */
export interface AuditDaySpan {
  readonly day: AuditDay;
  /** Counter of the first line. */
  readonly first: number;
  readonly entries: number;
  /** Hash of the last line. */
  readonly head: Sha256Hash;
}

export interface AuditLogVerdict {
  /** Counters of the first and last line. */
  readonly first: number;
  readonly last: number;
  /** Hash of the last line. */
  readonly head: Sha256Hash;
  /** Entries that the log itself says were lost. */
  readonly lost: number;
  /** To be compared with the attested heads. An excerpt may hold its first and last day in part. */
  readonly days: readonly AuditDaySpan[];
}

/** Follows a chain line by line, and tells its days. Memory does not grow with the chain. */
export class AuditWalk {
  readonly #suite: Pick<Suite, 'sha256Hex'>;
  #end: AuditEnd;
  #span: AuditDaySpan | undefined;
  #lost = 0;

  constructor(suite: Pick<Suite, 'sha256Hex'>, start: AuditEnd) {
    this.#suite = suite;
    this.#end = start;
  }

  get end(): AuditEnd {
    return this.#end;
  }

  get lost(): number {
    return this.#lost;
  }

  /** The day under way; undefined before the first line. */
  get span(): AuditDaySpan | undefined {
    return this.#span;
  }

  /** Takes the next line; returns the day that ended before it, if one did. Throws `AuditChainError`. */
  take(line: string): AuditDaySpan | undefined {
    const { entry, end } = followAuditChain(this.#suite, this.#end, line);
    const day = dayOf(end.at);
    const before = this.#span;
    const first = before?.day === day ? before.first : end.seq;
    this.#end = end;
    this.#span = { day, first, entries: end.seq - first + 1, head: end.hash };
    this.#lost += entry.lost ?? 0;
    return before?.day === day ? undefined : before;
  }
}

/**
 * Checks an exported log offline: every line follows the one before. With the chain's name the first line must be the
 * first of that chain; without, an excerpt is only consistent with itself and with the attested heads of its days.
 * Null where there is no line. Throws `AuditChainError`.
 */
export function verifyAuditLog(
  suite: Pick<Suite, 'sha256Hex'>,
  lines: Iterable<string>,
  name?: AuditChainName,
): AuditLogVerdict | null {
  let walk = name && new AuditWalk(suite, beginAuditChain(suite, name));
  let first = 0;
  const days: AuditDaySpan[] = [];
  for (const line of lines) {
    walk ??= new AuditWalk(suite, endBefore(line));
    if (walk.span === undefined) first = walk.end.seq + 1;
    const ended = walk.take(line);
    if (ended !== undefined) days.push(ended);
  }
  if (walk?.span === undefined) return null;
  return { first, last: walk.end.seq, head: walk.end.hash, lost: walk.lost, days: [...days, walk.span] };
}
