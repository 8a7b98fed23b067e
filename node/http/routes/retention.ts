import Type from 'typebox';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import {
  ANY_EVENT,
  RETENTION_EXAMPLE,
  RETENTION_PAGE,
  type RetentionAnswer,
  RetentionAnswerShape,
  RetentionQueryShape,
} from '../../../protocol/api/retention.ts';
import type { SourceName } from '../../../protocol/chain/sources.ts';
import { type Covered, eventOfScope, lockEnd, periodOf } from '../../../protocol/compliance/retention.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { RECORD_KINDS } from '../../../protocol/statement/vocabulary.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { OrdinalShape } from '../../../protocol/shapes.ts';
import { covers } from '../../accounts/caller.ts';
import type { HoldsOfOthers } from '../../governance/holds-elsewhere.ts';
import { type Locks, placedElsewhere, type PlacedLock } from '../../governance/locks.ts';
import { queryReader } from '../query.ts';
import { FilteredCursor } from '../page-cursor.ts';
import { requireReach } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';

export interface RetentionServices {
  readonly locks: Pick<Locks, 'list' | 'covering' | 'elsewhere' | 'events' | 'hasScope'>;
}

const SOURCE = RetentionQueryShape.properties.sourceId;
/** By the number of the lock's record. */
const CURSOR = new FilteredCursor(Type.Tuple([OrdinalShape]), [42]);

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
        'What prevents erasure through this service: before the first page of this node’s locks, oldest first, the legal ' +
        'holds of other nodes that speak for the account, as far as they have arrived; a hold is released at its `node`. ' +
        '`effective` says what all of these amount to, on this page or not; `effectiveByEvent`, where some cover records by their event, the same of these. A ' +
        'record made later than a lock is under it for its period from the record’s own time on.',
      query: {
        sourceId: { description: 'The source.', shape: SOURCE, example: EXAMPLE_IDS.source, required: true },
        cursor: CURSOR.parameter,
      },
      answer: { shape: RetentionAnswerShape, example: RETENTION_EXAMPLE },
      problems: ['missing-field', 'invalid-field'],
    },
    async answer({ query }, caller) {
      const { sourceId, cursor } = readQuery(query);
      requireReach(caller, sourceId);
      const source = { account: caller.account.id, sourceId };
      const [after] = CURSOR.read(cursor, { sourceId }) ?? [0];
      const found = await locks.list(source, after, RETENTION_PAGE + 1);
      const page = found.slice(0, RETENTION_PAGE);
      const last = page.at(-1);
      const others = await locks.elsewhere(source);
      const effectiveByEvent = await byEvent(locks, source, others);
      const shown = after === 0 ? [...placedElsewhere(others).slice(0, RETENTION_PAGE), ...page] : page;
      const body: RetentionAnswer = {
        success: true,
        sourceId,
        effective: await effectiveOf(locks, source, others),
        ...(effectiveByEvent === undefined ? {} : { effectiveByEvent }),
        // Of locks outside the key's period only what they amount to is told.
        locks: shown.filter(({ record }) => covers(caller.key, record.submittedAt)).map(itemOf),
        nextCursor:
          found.length > page.length && last !== undefined ? CURSOR.write([last.record.seq], { sourceId }) : null,
      };
      return { body };
    },
  };
}

type Lookup = Pick<Locks, 'covering' | 'events' | 'hasScope'>;
type Effective = Omit<RetentionAnswer['effective'][number], 'recordKind'>;

async function effectiveOf(
  locks: Lookup,
  source: SourceName,
  others: HoldsOfOthers,
): Promise<RetentionAnswer['effective']> {
  const effective: RetentionAnswer['effective'] = [];
  for (const recordKind of RECORD_KINDS) {
    const found = await effectiveFor(locks, source, { kind: recordKind }, others);
    if (found !== undefined) effective.push({ recordKind, ...found });
  }
  return effective;
}

/** Undefined where no lock covers records by their event. */
async function byEvent(
  locks: Lookup,
  source: SourceName,
  others: HoldsOfOthers,
): Promise<RetentionAnswer['effectiveByEvent']> {
  const scopes = others.holds.flatMap(({ claims }) => claims.scope ?? []);
  const own = await locks.events(source, RETENTION_PAGE);
  const named = new Set([...own, ...scopes.flatMap((scope) => eventOfScope(scope) ?? [])]);
  const events = [...named].sort().slice(0, RETENTION_PAGE);
  if (scopes.includes('documents') || (await locks.hasScope(source, 'documents'))) events.unshift(ANY_EVENT);
  if (events.length === 0) return undefined;
  const effective: NonNullable<RetentionAnswer['effectiveByEvent']> = [];
  for (const event of events) {
    const found = await effectiveFor(locks, source, { kind: 'decision', event }, others);
    if (found !== undefined) effective.push({ event, ...found });
  }
  return effective;
}

async function effectiveFor(
  locks: Lookup,
  source: SourceName,
  covered: Covered,
  others: HoldsOfOthers,
): Promise<Effective | undefined> {
  const { until, days, held } = await locks.covering(source, covered, others);
  if (held) return { effectiveUntil: null, retentionPeriodDays: days ?? 0, legalHold: true };
  if (until === null || days === null) return undefined;
  return { effectiveUntil: timestampOf(until), retentionPeriodDays: days, legalHold: false };
}

function itemOf({ record, hold }: PlacedLock): RetentionAnswer['locks'][number] {
  const isHeld = hold === 'active';
  const { startsAt } = record.claims.asserted ?? {};
  return {
    lockId: objectId('lock', record.id),
    attestationId: record.id,
    node: record.node,
    scope: record.claims.scope ?? [],
    retentionPeriodDays: record.claims.retentionDays ?? 0,
    lockedAt: record.submittedAt,
    ...(startsAt === undefined ? {} : { startsAt }),
    expiresAt: isHeld ? null : timestampOf(lockEnd(periodOf(record))),
    legalHold: hold === null ? 'none' : isHeld ? 'active' : 'released',
    releaseAttestationId: hold === null || isHeld ? null : hold,
  };
}
