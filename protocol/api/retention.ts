import Type, { type Static } from 'typebox';
import { LockScopeShape } from '../chain/claims.ts';
import { Closed, CursorShape, NodeIdShape, OrNull, RecordIdShape, TimestampShape } from '../shapes.ts';
import { nodeId } from '../ids.ts';
import { RECORD_KINDS } from '../statement/vocabulary.ts';
import { timestampOf } from '../time.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { SourceIdShape } from './fields.ts';
import { ObjectIdShape } from './governance-fields.ts';

/** Locks of one page, and of other nodes' holds beside the first. */
export const RETENTION_PAGE = 100;

/** `GET /v1/retention`. */
export const RetentionQueryShape = Closed({
  sourceId: SourceIdShape,
  cursor: Type.Optional(CursorShape),
});

/** Stands for every event but `DECISION`: what covers `documents`. */
export const ANY_EVENT = '*';

/** What some locks amount to together. */
const EFFECTIVE_MEMBERS = {
  /** For what was recorded before the last lock and before its `startsAt`. Null while a legal hold holds. */
  effectiveUntil: OrNull(TimestampShape),
  /** The longest period of this node's locks, from a record's own time on; 0: another node's hold alone. */
  retentionPeriodDays: Type.Integer(),
  legalHold: Type.Boolean(),
};

/** What prevents erasure of the payloads of a source through this service. */
export const RetentionAnswerShape = Closed({
  success: Type.Literal(true),
  sourceId: SourceIdShape,
  /**
   * By kind of record, what all locks together amount to that cover every record of it. Kinds that no lock covers are
   * left out.
   */
  effective: Type.Array(Closed({ recordKind: Type.Enum([...RECORD_KINDS]), ...EFFECTIVE_MEMBERS })),
  /**
   * Where locks cover records of kind `decision` by their event: what all locks together amount to for each. `*`: every
   * event but `DECISION`. The first 100 events in alphabetical order.
   */
  effectiveByEvent: Type.Optional(
    Type.Array(Closed({ event: Type.String(), ...EFFECTIVE_MEMBERS }), { maxItems: RETENTION_PAGE + 1 }),
  ),
  /** Those of this node; on the first page after the legal holds of other nodes, 100 at most, that hold here too. */
  locks: Type.Array(
    Closed({
      lockId: ObjectIdShape,
      attestationId: RecordIdShape,
      /** The node that has it, and alone releases its hold. */
      node: NodeIdShape,
      scope: Type.Array(LockScopeShape),
      retentionPeriodDays: Type.Integer(),
      lockedAt: TimestampShape,
      startsAt: Type.Optional(TimestampShape),
      /** Null while its legal hold holds. */
      expiresAt: OrNull(TimestampShape),
      legalHold: Type.Enum(['none', 'active', 'released']),
      /** The record of the release. */
      releaseAttestationId: OrNull(RecordIdShape),
    }),
    { maxItems: 2 * RETENTION_PAGE },
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
      node: nodeId('eu'),
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
