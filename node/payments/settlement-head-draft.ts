import { canonicalize } from '../../protocol/json/canonical.ts';
import type { DailyHead } from '../accounts/audit-log/daily-heads.ts';
import type { Draft } from '../intake/draft.ts';
import type { Operation } from '../store/operation.ts';

/** The source under which a node says where its settlement ledger stands. */
const SETTLEMENT_SOURCE = 'meridian/settlements';

/** What intake records of a day's head. It counts against no limit: the node makes it, not a caller. */
export function settlementHeadDraft(head: DailyHead, besides: () => readonly Operation[]): Draft {
  const { account, day, entries, head: hash } = head;
  const facts = { auditDay: day, auditEntries: entries, auditHead: hash, keyEvent: 'settlement-head' } as const;
  return {
    kind: 'key_event',
    account,
    sourceId: SETTLEMENT_SOURCE,
    payload: canonicalize(facts),
    claims: { channel: 'tiered', ...facts },
    links: {},
    besides,
  };
}
