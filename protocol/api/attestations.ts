import Type, { type Static } from 'typebox';
import { Closed, CursorShape, OrdinalShape, OrNull, RecordIdShape, TimestampShape } from '../shapes.ts';
import { RECORD_KINDS } from '../statement/vocabulary.ts';
import { timestampOf } from '../time.ts';
import { StatusShape } from './envelope.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { SourceIdShape, TextShape } from './fields.ts';
import { ObjectIdShape } from './governance-fields.ts';
import { TimeOrDayShape } from './times.ts';

/** Records of one page at most. */
export const MAX_ATTESTATIONS_PAGE = 200;

/** By what is signed of a record. */
export const RECORD_FILTERS = {
  modelId: Type.Optional(TextShape(1, 256)),
  riskLevel: Type.Optional(TextShape(1, 64)),
  agentId: Type.Optional(TextShape(1, 256)),
  sessionId: Type.Optional(ObjectIdShape),
};

/** `GET /v1/attestations`. `from` is included, `to` is not; a day is its first moment. */
export const AttestationsQueryShape = Closed({
  sourceId: Type.Optional(SourceIdShape),
  from: Type.Optional(TimeOrDayShape),
  to: Type.Optional(TimeOrDayShape),
  kind: Type.Optional(Type.Enum([...RECORD_KINDS])),
  ...RECORD_FILTERS,
  cursor: Type.Optional(CursorShape),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ATTESTATIONS_PAGE })),
});

/** One page of an account's records on a node. */
export const AttestationsAnswerShape = Closed({
  success: Type.Literal(true),
  items: Type.Array(
    Closed({
      attestationId: RecordIdShape,
      recordKind: Type.Enum([...RECORD_KINDS]),
      sourceId: Type.String(),
      sourceSeq: OrdinalShape,
      submittedAt: TimestampShape,
      /** Anchoring status. */
      status: StatusShape,
      /** Of a decision. */
      eventType: OrNull(Type.String()),
      /** As the record names them. */
      modelId: OrNull(Type.String()),
      riskLevel: OrNull(Type.String()),
      payloadState: Type.Enum(['available', 'erased']),
    }),
    { maxItems: MAX_ATTESTATIONS_PAGE },
  ),
  /** Places whose records the node cannot read. None, in a store that is whole. */
  unreadable: Type.Array(Closed({ sourceId: OrNull(Type.String()), sourceSeq: OrdinalShape })),
  /** Start of the proof window of the account's tier: older records are not listed. Null: all are. */
  listedFrom: OrNull(TimestampShape),
  /** Null on the last page. A page may hold few records, or none, and not be the last. */
  nextCursor: OrNull(Type.String()),
});
export type AttestationsAnswer = Static<typeof AttestationsAnswerShape>;

export const ATTESTATIONS_EXAMPLE: AttestationsAnswer = {
  success: true,
  items: [
    {
      attestationId: EXAMPLE_IDS.decision,
      recordKind: 'decision',
      sourceId: EXAMPLE_IDS.source,
      sourceSeq: 1042,
      submittedAt: timestampOf(Date.parse(EXAMPLE_SUBMITTED_AT)),
      status: 'confirmed',
      eventType: 'DECISION',
      modelId: 'credit-gbm',
      riskLevel: 'high',
      payloadState: 'available',
    },
  ],
  unreadable: [],
  listedFrom: null,
  nextCursor: null,
};

/** `GET /v1/attestations/export`. */
export const RECORD_EXPORT_FORMATS = ['jsonl', 'csv'] as const;
export type RecordExportFormat = (typeof RECORD_EXPORT_FORMATS)[number];

export const RecordExportQueryShape = Closed({
  format: Type.Optional(Type.Enum([...RECORD_EXPORT_FORMATS])),
  sourceId: Type.Optional(SourceIdShape),
  from: Type.Optional(TimeOrDayShape),
  to: Type.Optional(TimeOrDayShape),
  kind: Type.Optional(Type.Enum([...RECORD_KINDS])),
  ...RECORD_FILTERS,
});
