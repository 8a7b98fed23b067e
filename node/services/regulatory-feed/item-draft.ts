import { UNCLASSIFIED } from '../../../protocol/api/regwatch-words.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { Draft } from '../../intake/draft.ts';
import { REGWATCH_ACCOUNT, REGWATCH_SOURCE_PREFIX, type Revision, revisionTable } from './regwatch-tables.ts';

/** What intake records of a revision, as observed at `now` in epoch milliseconds. It counts against no limit. */
export function itemDraft(revision: Revision, now: number): Draft {
  const { itemId, source, content, sourceHash, supersedes } = revision;
  const jurisdiction = content.jurisdictions.filter((label) => label !== UNCLASSIFIED);
  return {
    kind: 'reg_item',
    account: REGWATCH_ACCOUNT,
    sourceId: REGWATCH_SOURCE_PREFIX + source,
    payload: canonicalize(revision),
    claims: {
      channel: 'tiered',
      itemId,
      rawHash: sourceHash,
      observedAt: timestampOf(now),
      ...(jurisdiction.length === 0 ? {} : { jurisdiction }),
    },
    links: { supersedes: supersedes[0] },
    besides: (id) => [revisionTable.put([id], revision)],
  };
}
