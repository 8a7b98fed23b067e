import { canonicalize } from '../../../protocol/json/canonical.ts';
import type { Draft } from '../../intake/draft.ts';
import type { Operation } from '../../store/operation.ts';
import type { DailyHead } from './daily-heads.ts';

/** The source under which a node records what it says of itself to an account. */
export const AUDIT_SOURCE = 'meridian/audit-log';

/** By what a head is of, the source that it is recorded under: an account's log, or the node's settlement ledger. */
const SOURCES = { 'audit-head': AUDIT_SOURCE, 'settlement-head': 'meridian/settlements' } as const;

/** What intake records of a day's head. It counts against no limit: the node makes it, not a caller. */
export function dailyHeadDraft(
  keyEvent: keyof typeof SOURCES,
  { account, day, entries, head }: DailyHead,
  besides: () => readonly Operation[],
): Draft {
  const facts = { auditDay: day, auditEntries: entries, auditHead: head, keyEvent };
  return {
    kind: 'key_event',
    account,
    sourceId: SOURCES[keyEvent],
    payload: canonicalize(facts),
    claims: { channel: 'tiered', ...facts },
    links: {},
    besides,
  };
}
