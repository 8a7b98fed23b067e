import Type, { type Static } from 'typebox';
import { Closed, OrNull, RecordIdShape, TimestampShape } from '../shapes.ts';
import { LOCK_SCOPES, RECORD_KINDS } from '../statement/vocabulary.ts';
import { timestampOf } from '../time.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { SourceIdShape } from './fields.ts';
import { ObjectIdShape } from './governance-fields.ts';

/** Locks of one page. */
export const RETENTION_PAGE = 100;

/** `GET /v1/retention`. */
export const RetentionQueryShape = Closed({
  sourceId: SourceIdShape,
  cursor: Type.Optional(Type.String({ minLength: 1 })),
});

/** What keeps the payloads of a source from being erased. */
export const RetentionAnswerShape = Closed({
  success: Type.Literal(true),
  sourceId: SourceIdShape,
  /** By kind of record, what all locks together amount to. Kinds that no lock covers are left out. */
  effective: Type.Array(
    Closed({
      recordKind: Type.Enum([...RECORD_KINDS]),
      /** For what was recorded before the last lock. Null while a legal hold holds. */
      effectiveUntil: OrNull(TimestampShape),
      /** The longest period, from a record's own time on. */
      retentionPeriodDays: Type.Integer(),
      legalHold: Type.Boolean(),
    }),
  ),
  locks: Type.Array(
    Closed({
      lockId: ObjectIdShape,
      attestationId: RecordIdShape,
      scope: Type.Array(Type.Enum([...LOCK_SCOPES])),
      retentionPeriodDays: Type.Integer(),
      lockedAt: TimestampShape,
      /** Null while its legal hold holds. */
      expiresAt: OrNull(TimestampShape),
      legalHold: Type.Enum(['none', 'active', 'released']),
      /** The record of the release. */
      releaseAttestationId: OrNull(RecordIdShape),
    }),
    { maxItems: RETENTION_PAGE },
  ),
  nextCursor: OrNull(Type.String()),
});
export type RetentionAnswer = Static<typeof RetentionAnswerShape>;

export const RETENTION_EXAMPLE: RetentionAnswer = {
  success: true,
  sourceId: EXAMPLE_IDS.source,
  effective: [
    {
      recordKind: 'decision',
      effectiveUntil: timestampOf(Date.UTC(2032, 10, 21, 9, 30)),
      retentionPeriodDays: 2192,
      legalHold: false,
    },
  ],
  locks: [
    {
      lockId: EXAMPLE_IDS.lock,
      attestationId: EXAMPLE_IDS.lockRecord,
      scope: ['decisions'],
      retentionPeriodDays: 2192,
      lockedAt: timestampOf(Date.UTC(2026, 10, 21, 9, 30)),
      expiresAt: timestampOf(Date.UTC(2032, 10, 21, 9, 30)),
      legalHold: 'none',
      releaseAttestationId: null,
    },
  ],
  nextCursor: null,
};
