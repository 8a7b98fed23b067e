import Type, { type Static } from 'typebox';
import { Closed, CursorShape, OrdinalShape, OrNull, RecordIdShape, TimestampShape } from '../shapes.ts';
import { RECORD_KINDS } from '../statement/vocabulary.ts';
import { timestampOf } from '../time.ts';
import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';

/** Sources of one page at most. */
export const MAX_SOURCES_PAGE = 100;

/** `GET /v1/sources`. */
export const SourcesQueryShape = Closed({
  cursor: Type.Optional(CursorShape),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_SOURCES_PAGE })),
});

/** The sources under which an account has recorded something on a node. */
export const SourcesAnswerShape = Closed({
  success: Type.Literal(true),
  items: Type.Array(
    Closed(
      {
        /** Null where neither its first nor its last record can be read. */
        sourceId: OrNull(Type.String()),
        /** `sourceSeq` of its last record: so many there are, unless some are missing. */
        records: OrdinalShape,
        firstSubmittedAt: OrNull(TimestampShape),
        lastSubmittedAt: OrNull(TimestampShape),
        lastAttestationId: OrNull(RecordIdShape),
        lastRecordKind: OrNull(Type.Enum([...RECORD_KINDS])),
      },
      { title: 'SourceItem' },
    ),
    { maxItems: MAX_SOURCES_PAGE },
  ),
  nextCursor: OrNull(Type.String()),
});
export type SourcesAnswer = Static<typeof SourcesAnswerShape>;

export const SOURCES_EXAMPLE: SourcesAnswer = {
  success: true,
  items: [
    {
      sourceId: EXAMPLE_IDS.source,
      records: 1042,
      firstSubmittedAt: timestampOf(Date.UTC(2026, 0, 2, 8)),
      lastSubmittedAt: timestampOf(Date.parse(EXAMPLE_SUBMITTED_AT)),
      lastAttestationId: EXAMPLE_IDS.decision,
      lastRecordKind: 'decision',
    },
  ],
  nextCursor: null,
};

/** `GET /v1/sources/:id/models`: which models a source's records name, over time. */
export const SourceModelsAnswerShape = Closed({
  success: Type.Literal(true),
  sourceId: Type.String(),
  /** Places that the key sees. */
  firstSeq: OrdinalShape,
  lastSeq: OrdinalShape,
  /** Records that were looked at: all of them, or so many, evenly spread. */
  looked: OrdinalShape,
  /** The oldest first: neighbours among those looked at that name the same. */
  items: Type.Array(
    Closed(
      {
        modelId: Type.String(),
        modelVersion: OrNull(Type.String()),
        firstSeq: OrdinalShape,
        lastSeq: OrdinalShape,
        firstSubmittedAt: TimestampShape,
        lastSubmittedAt: TimestampShape,
      },
      { title: 'SourceModel' },
    ),
  ),
});
export type SourceModelsAnswer = Static<typeof SourceModelsAnswerShape>;

export const SOURCE_MODELS_EXAMPLE: SourceModelsAnswer = {
  success: true,
  sourceId: EXAMPLE_IDS.source,
  firstSeq: 1,
  lastSeq: 1042,
  looked: 200,
  items: [
    {
      modelId: 'credit-gbm',
      modelVersion: '4.2',
      firstSeq: 1,
      lastSeq: 1042,
      firstSubmittedAt: timestampOf(Date.UTC(2026, 0, 2, 8)),
      lastSubmittedAt: timestampOf(Date.parse(EXAMPLE_SUBMITTED_AT)),
    },
  ],
};
