import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import {
  RETENTION_EXAMPLE,
  RETENTION_PAGE,
  type RetentionAnswer,
  RetentionAnswerShape,
  RetentionQueryShape,
} from '../../../protocol/api/retention.ts';
import type { SourceName } from '../../../protocol/chain/sources.ts';
import { lockEnd } from '../../../protocol/compliance/retention.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { RECORD_KINDS } from '../../../protocol/statement/vocabulary.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { type Locks, periodOf, type PlacedLock } from '../../governance/locks.ts';
import { fieldError, Problem } from '../problem.ts';
import { queryReader, readCursor, writeCursor } from '../query.ts';
import { requireReach } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';

export interface RetentionServices {
  readonly locks: Pick<Locks, 'list' | 'covering'>;
}

const { sourceId: SOURCE, cursor: CURSOR } = RetentionQueryShape.properties;

/** `GET /v1/retention` (api-rules §10 item 3): the locks and legal holds of a source, and what they amount to. */
export function retentionRoute({ locks }: RetentionServices): KeyRoute {
  const readQuery = queryReader(RetentionQueryShape);
  return {
    method: 'GET',
    path: '/v1/retention',
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: 'The retention locks and legal holds of a source',
      description:
        'Oldest first. `effective` says what all locks of the source amount to, on this page or not. A record made ' +
        'later than a lock is kept for its period from the record’s own time on.',
      query: {
        sourceId: { description: 'The source.', shape: SOURCE, example: EXAMPLE_IDS.source, required: true },
        cursor: { description: '`nextCursor` of the page before.', shape: CURSOR, example: writeCursor([42]) },
      },
      answer: { shape: RetentionAnswerShape, example: RETENTION_EXAMPLE },
      problems: ['missing-field', 'invalid-field'],
    },
    async answer({ query }, caller) {
      const { sourceId, cursor } = readQuery(query);
      requireReach(caller, sourceId);
      const source = { account: caller.account.id, sourceId };
      const found = await locks.list(source, cursor === undefined ? 0 : placeOf(cursor), RETENTION_PAGE + 1);
      const page = found.slice(0, RETENTION_PAGE);
      const last = page.at(-1);
      const body: RetentionAnswer = {
        success: true,
        sourceId,
        effective: await effectiveOf(locks, source),
        locks: page.map(itemOf),
        nextCursor: found.length > page.length && last !== undefined ? writeCursor([last.record.seq]) : null,
      };
      return { body };
    },
  };
}

async function effectiveOf(locks: Pick<Locks, 'covering'>, source: SourceName): Promise<RetentionAnswer['effective']> {
  const effective: RetentionAnswer['effective'] = [];
  for (const recordKind of RECORD_KINDS) {
    const { until, days, held } = await locks.covering(source, recordKind);
    if (until === null || days === null) continue;
    const effectiveUntil = held ? null : timestampOf(until);
    effective.push({ recordKind, effectiveUntil, retentionPeriodDays: days, legalHold: held });
  }
  return effective;
}

function itemOf({ record, hold }: PlacedLock): RetentionAnswer['locks'][number] {
  const isHeld = hold === 'active';
  return {
    lockId: objectId('lock', record.id),
    attestationId: record.id,
    scope: record.claims.scope ?? [],
    retentionPeriodDays: record.claims.retentionDays ?? 0,
    lockedAt: record.submittedAt,
    expiresAt: isHeld ? null : timestampOf(lockEnd(periodOf(record))),
    legalHold: hold === null ? 'none' : isHeld ? 'active' : 'released',
    releaseAttestationId: hold === null || isHeld ? null : hold,
  };
}

function placeOf(cursor: string): number {
  const [seq] = readCursor(cursor, 1);
  if (typeof seq === 'number' && seq >= 1) return seq;
  const message = 'is no cursor of this list';
  throw new Problem('invalid-field', `cursor ${message}`, { errors: [fieldError(['cursor'], 'cursor', message)] });
}
