import { hashText, type Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { canonicalize } from '../json/canonical.ts';
import type { Suite } from '../suite/suite.ts';
import type { Timestamp } from '../time.ts';
import { type AuditEntry, type AuditFacts, type AuditLine, auditLine } from './entry.ts';

/** Whose key-use log it is: there is one chain for each account of a node. */
export interface AuditChainName {
  readonly node: NodeId;
  readonly account: string;
}

/** The end of a chain: counter, hash and time of its last line. The hash is the chain's head. */
export interface AuditEnd {
  readonly seq: number;
  readonly hash: Sha256Hash;
  /** Null before the first entry. */
  readonly at: Timestamp | null;
}

export type AuditFault = 'malformed' | 'broken-link' | 'seq-gap' | 'time-order';

/** A line that does not belong where it stands. */
export class AuditChainError extends Error {
  override readonly name = 'AuditChainError';
  readonly fault: AuditFault;
  /** Counter that the line should have. */
  readonly seq: number;

  constructor(fault: AuditFault, seq: number, message: string) {
    super(`line ${seq}: ${message}`);
    this.fault = fault;
    this.seq = seq;
  }
}

type Hasher = Pick<Suite, 'sha256Hex'>;

/** Where a chain begins. The first line's `prev` is the hash of the chain's name, so no chain passes for another's. */
export function beginAuditChain(suite: Hasher, { node, account }: AuditChainName): AuditEnd {
  return { seq: 0, hash: hashText(suite, canonicalize({ account, node, type: 'audit-log', v: 1 })), at: null };
}

/** The next line of a chain and its end after it. A time before that of the line before is lifted to it. */
export function extendAuditChain(
  suite: Hasher,
  end: AuditEnd,
  facts: AuditFacts,
  at: Timestamp,
): { readonly line: string; readonly end: AuditEnd & { readonly at: Timestamp } } {
  const { action, address, by, lost, requestId, status, subject } = facts;
  const seq = end.seq + 1;
  const time = end.at !== null && end.at > at ? end.at : at;
  // Members stand in canonical order, so that the text costs one native call.
  const entry: AuditEntry = {
    action,
    address,
    at: time,
    by,
    ...(lost === undefined ? {} : { lost }),
    requestId,
    seq,
    status,
    subject,
    v: 1,
  };
  const line = auditLine.write({ entry, prev: end.hash });
  return { line, end: { seq, hash: hashText(suite, line), at: time } };
}

/** The end of the chain after a line that is said to follow. Throws `AuditChainError` where it does not. */
export function followAuditChain(
  suite: Hasher,
  end: AuditEnd,
  line: string,
): { readonly entry: AuditEntry; readonly end: AuditEnd & { readonly at: Timestamp } } {
  const seq = end.seq + 1;
  const { entry, prev } = parseLine(line, seq);
  if (entry.seq !== seq) throw new AuditChainError('seq-gap', seq, `says that it is line ${entry.seq}`);
  if (prev !== end.hash) throw new AuditChainError('broken-link', seq, 'does not name the hash of the line before');
  if (end.at !== null && entry.at < end.at) throw new AuditChainError('time-order', seq, 'is before the line before');
  return { entry, end: { seq, hash: hashText(suite, line), at: entry.at } };
}

/** The end that an excerpt's first line names: trusted by anyone who starts there. Throws `AuditChainError`. */
export function endBefore(line: string): AuditEnd {
  const { entry, prev } = parseLine(line, 0);
  return { seq: entry.seq - 1, hash: prev, at: null };
}

function parseLine(line: string, seq: number): AuditLine {
  try {
    return auditLine.parse(line);
  } catch (error) {
    throw new AuditChainError('malformed', seq, error instanceof Error ? error.message : 'unreadable');
  }
}
