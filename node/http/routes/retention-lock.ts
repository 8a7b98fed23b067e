import type { Static } from 'typebox';
import {
  RETENTION_LOCK_EXAMPLE,
  RetentionLockAnswerShape,
  RetentionLockRequestShape,
} from '../../../protocol/api/retention-lock.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { LOCK_REFERENCES } from '../../../protocol/compliance/references.ts';
import { lockWarnings, statutoryMinimumDays } from '../../../protocol/compliance/retention-bases.ts';
import { lockEnd, MAX_START_AHEAD_DAYS, MIN_RETENTION_DAYS, periodOf } from '../../../protocol/compliance/retention.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { whoActsBy } from '../../accounts/caller.ts';
import { governanceDraft } from '../../governance/governance-draft.ts';
import type { Actor, Holds } from '../../governance/holds.ts';
import type { Locks, LockState } from '../../governance/locks.ts';
import { fieldProblem } from '../problem.ts';
import { readTimeOrDay } from '../recording/asserted-times.ts';
import { type Recorder, recordingRoute } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';

export interface RetentionLockServices {
  readonly recorder: Recorder;
  readonly locks: Pick<Locks, 'alone' | 'overlapping'>;
  readonly holds: Pick<Holds, 'row'>;
  readonly now: () => number;
}

const DAY_MS = 24 * 3_600_000;

type LockRequest = Static<typeof RetentionLockRequestShape>;

/** `POST /v1/retention-lock` (api-rules §4.2, §4.2). Locks are only added: they extend, and never shorten. */
export function retentionLockRoute({ recorder, locks, holds, now }: RetentionLockServices): KeyRoute {
  return recordingRoute(recorder, {
    path: '/v1/retention-lock',
    scope: 'governance:write',
    shape: RetentionLockRequestShape,
    documentation: {
      summary: 'Prevents erasure of a source’s payloads through this service',
      description:
        `For at least ${MIN_RETENTION_DAYS} days, which is this service’s floor and no number of the EU AI Act; ` +
        'what the rules named in `regulatoryBasis` ask for is in `statutoryMinimumDays`. A record can be erased once ' +
        'every lock over it has run out, each counted from the later of lock and record, or, with `startsAt`, of that ' +
        `and the record; no lock ends sooner than ${MIN_RETENTION_DAYS} days after it was placed. \`documents\` covers ` +
        'records of kind `document` and those of kind `decision` whose event is not `DECISION`; `event:TECH_DOC` ' +
        'those of that event. A `legalHold` has no end until a second person releases it at this node, and holds at every ' +
        'node of the account once its record has arrived there; the period binds this node alone. A lock is no copy, ' +
        'and no proof that a payload is still there.',
      request: { shape: RetentionLockRequestShape, example: RETENTION_LOCK_EXAMPLE.request },
      answer: { shape: RetentionLockAnswerShape, example: RETENTION_LOCK_EXAMPLE.answer },
      problems: ['retention-below-minimum'],
    },
    async record(work, submit) {
      const { request, caller } = work;
      const account = caller.account.id;
      const { sourceId, retentionPeriodDays: retentionDays, legalHold } = request;
      requireLongEnough(retentionDays);
      const startsAt = startOf(request, now());
      const holder = holderOf(request, whoActsBy(caller.key));
      const scope = typeof request.scope === 'string' ? [request.scope] : request.scope;
      const asserted = startsAt === undefined ? undefined : { startsAt };
      const claims = { retentionDays, scope, legalHold, asserted };
      const draft = governanceDraft(work, { kind: 'retention_lock', account, sourceId, claims });
      const source = { account, sourceId };
      return locks.alone([source], async () => {
        const before = await locks.overlapping(source, scope);
        const row =
          holder === undefined ? {} : { besides: (id: AttestationRecord['id']) => [holds.row(account, holder, id)] };
        return submit({ ...draft, ...row }, keptOf(before));
      });
    },
    answer({ request, record, kept, envelope }) {
      const period = periodOf(record);
      const end = lockEnd(period);
      const { retentionPeriodDays, regulatoryBasis, legalHold } = request;
      const { startsAt } = record.claims.asserted ?? {};
      return {
        ...envelope,
        warnings: [...envelope.warnings, ...lockWarnings(regulatoryBasis, period)],
        lockId: objectId('lock', record.id),
        sourceId: record.sourceId,
        scope: request.scope,
        retentionPeriodDays,
        lockedAt: record.submittedAt,
        ...(startsAt === undefined ? {} : { startsAt }),
        expiresAt: legalHold === true ? null : timestampOf(end),
        appliesTo: 'existing-and-future',
        perRecordExpiry: 'recordTime + period',
        statutoryMinimumDays: statutoryMinimumDays(regulatoryBasis),
        ...LOCK_REFERENCES,
        effectiveUntil: legalHold === true ? null : effectiveUntil(kept, end),
      };
    },
  });
}

/** What the answer needs of the locks that were there before. */
export function keptOf({ until, held }: LockState): JsonObject {
  return { until, held };
}

/** The end of a lock together with those before it; null while a legal hold holds. */
export function effectiveUntil({ until, held }: JsonObject, end: number): string | null {
  if (held === true) return null;
  return timestampOf(typeof until === 'number' ? Math.max(until, end) : end);
}

function requireLongEnough(days: number): void {
  if (days >= MIN_RETENTION_DAYS) return;
  throw fieldProblem(
    'retentionPeriodDays',
    'minimum',
    `is below the minimum of ${MIN_RETENTION_DAYS}`,
    'retention-below-minimum',
  );
}

/**
 * From where the period runs: of a day its last moment in UTC, so that no year ends before its last day does. Throws
 * `Problem` where it is no time, or too far ahead of `now`, in epoch milliseconds.
 */
function startOf({ startsAt }: LockRequest, now: number): Timestamp | undefined {
  if (startsAt === undefined) return undefined;
  const { last } = readTimeOrDay('startsAt', startsAt);
  if (last <= now + MAX_START_AHEAD_DAYS * DAY_MS) return timestampOf(last);
  throw fieldProblem('startsAt', 'too-far-ahead', `lies more than ${MAX_START_AHEAD_DAYS} days ahead`);
}

/** Who places a legal hold. Throws `Problem` where that is not said: another person must be able to release it. */
function holderOf({ legalHold, lockedBy }: LockRequest, by: string): Actor | undefined {
  if (legalHold !== true) return undefined;
  if (lockedBy !== undefined) return { name: lockedBy, by };
  throw fieldProblem('lockedBy', 'required', 'is required with legalHold', 'missing-field');
}
