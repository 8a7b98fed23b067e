import {
  HOLD_RELEASE_EXAMPLE,
  HoldReleaseAnswerShape,
  HoldReleaseRequestShape,
} from '../../../protocol/api/retention-lock.ts';
import { lockEnd, periodOf } from '../../../protocol/compliance/retention.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { whoActsBy } from '../../accounts/caller.ts';
import { governanceDraft } from '../../governance/governance-draft.ts';
import type { Holds } from '../../governance/holds.ts';
import type { Locks } from '../../governance/locks.ts';
import { type Recorder, recordingRoute, requireReach } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';
import { effectiveUntil, keptOf } from './retention-lock.ts';

export interface HoldReleaseServices {
  readonly recorder: Recorder;
  readonly locks: Pick<Locks, 'alone' | 'overlapping'>;
  readonly holds: Pick<Holds, 'requireLock' | 'requireReleasable' | 'removal'>;
}

const FORGOTTEN =
  'lockId: this node’s store was rebuilt and does not know any more who placed the hold; that two persons acted was ' +
  'not checked';

/** `POST /v1/retention-lock/release` (api-rules §10 item 3): another person, by another API key, ends a legal hold. */
export function holdReleaseRoute({ recorder, locks, holds }: HoldReleaseServices): KeyRoute {
  return recordingRoute(recorder, {
    path: '/v1/retention-lock/release',
    scope: 'governance:write',
    shape: HoldReleaseRequestShape,
    documentation: {
      summary: 'Releases a legal hold',
      description:
        'By a second person: another name than the `lockedBy` of the hold, and another API key than the one it was ' +
        'placed with; who signs in by mail is one person, however often, and by every key that they made or that was made ' +
        'in the place of lost ones. The first key of an account, also one that was mailed, is of nobody who is known. At ' +
        'another node of the account than its home keys alone are told apart, not whose they are. The period of the lock ' +
        'goes on.',
      request: { shape: HoldReleaseRequestShape, example: HOLD_RELEASE_EXAMPLE.request },
      answer: { shape: HoldReleaseAnswerShape, example: HOLD_RELEASE_EXAMPLE.answer },
      problems: ['same-person', 'lock-not-found', 'hold-not-active'],
    },
    async record(work, submit) {
      const { request, caller } = work;
      const account = caller.account.id;
      const lock = await holds.requireLock(caller, request.lockId);
      requireReach(caller, lock.sourceId);
      const { sourceId, claims } = lock;
      const { scope = [] } = claims;
      const source = { account, sourceId };
      return locks.alone([source], async () => {
        const told = await holds.requireReleasable(lock, { name: request.releasedBy, by: whoActsBy(caller.key) });
        const after = await locks.overlapping(source, scope, scope);
        const draft = governanceDraft(work, {
          kind: 'retention_lock',
          account,
          sourceId,
          claims: { scope, legalHold: false },
          links: { lock: lock.id },
        });
        const warnings = told === 'forgotten' ? [FORGOTTEN] : [];
        const kept = { ...keptOf(after), end: lockEnd(periodOf(lock)), warnings };
        return submit({ ...draft, besides: () => [holds.removal(lock.id)] }, kept);
      });
    },
    answer({ request, record, kept, envelope }) {
      const end = Number(kept.end);
      return {
        ...envelope,
        lockId: request.lockId,
        releasedAt: record.submittedAt,
        expiresAt: timestampOf(end),
        effectiveUntil: effectiveUntil(kept, end),
      };
    },
  });
}
