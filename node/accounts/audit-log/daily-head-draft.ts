import { canonicalize } from '../../../protocol/json/canonical.ts';
import type { Draft } from '../../intake/draft.ts';
import type { Operation } from '../../store/operation.ts';
import type { DailyHead } from './daily-heads.ts';

/** The source under which a node records what it says of itself to an account. */
export const AUDIT_SOURCE = 'meridian/audit-log';

/** What intake records of a day's head. It counts against no limit: the node makes it, not a caller. */
export function dailyHeadDraft(head: DailyHead, besides: () => readonly Operation[]): Draft {
  const { account, day, entries, head: hash } = head;
  return {
    kind: 'key_event',
    account,
    sourceId: AUDIT_SOURCE,
    payload: canonicalize({ auditDay: day, auditEntries: entries, auditHead: hash, keyEvent: 'audit-head' }),
    claims: {
      channel: 'tiered',
      keyEvent: 'audit-head',
      auditDay: day,
      auditEntries: entries,
      auditHead: hash,
    },
    links: {},
    besides,
  };
}
