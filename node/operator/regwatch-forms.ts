import Type, { type Static } from 'typebox';
import { RegContentShape, RegItemIdShape } from '../../protocol/api/regwatch-item.ts';
import { Closed, CountShape, OrNull, RecordIdShape, Sha256Shape, TimestampShape } from '../../protocol/shapes.ts';
import { MAX_KEY } from '../services/regulatory-feed/entry.ts';
import { SourceTermsShape } from '../services/regulatory-feed/sources.ts';

/** What an operator asks about the regulatory feed, and what is answered. Both ends of the socket read these forms. */
const success = Type.Literal(true);
const { summary, citation, publishedAt, effectiveAt, keyDates, sourceUrl, ...required } = RegContentShape.properties;
const { id: sourceId, ...terms } = SourceTermsShape.properties;

const MAX_ITEMS = 500;

/** An item as a person writes it: what is left out is empty, or null. `id`: default its `sourceUrl`. */
const WrittenItemShape = Closed({
  ...required,
  ...Type.Partial(Type.Object({ summary, citation, publishedAt, effectiveAt, keyDates, sourceUrl })).properties,
  id: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_KEY })),
  sample: Type.Optional(Type.Boolean()),
});
export type WrittenItem = Static<typeof WrittenItemShape>;

/** `POST /regwatch/items`. */
export const AddItemsShape = Closed({ items: Type.Array(WrittenItemShape, { minItems: 1, maxItems: MAX_ITEMS }) });
/** `POST /regwatch/items/:item`: the members that are to be others. */
export const CorrectItemShape = Type.Partial(RegContentShape, { additionalProperties: false, minProperties: 1 });
/** `POST /regwatch/ingest`: a file that the node can read. Without terms the source is a configured one. */
export const IngestShape = Closed({
  file: Type.String({ minLength: 1 }),
  source: Closed({ id: sourceId, ...Type.Partial(Type.Object(terms)).properties }),
});

const OutcomeShape = Closed({
  itemId: RegItemIdShape,
  outcome: Type.Enum(['added', 'changed', 'corrected', 'unchanged']),
  attestationId: RecordIdShape,
});
export const ItemsAnswerShape = Closed({ success, items: Type.Array(OutcomeShape) });
export const IngestAnswerShape = Closed({
  success,
  added: CountShape,
  changed: CountShape,
  unchanged: CountShape,
  skipped: CountShape,
  documentHash: Sha256Shape,
});

const SourceAnswerShape = Closed({
  id: Type.String(),
  url: Type.String(),
  authority: Type.String(),
  /** Null: not asked yet. */
  checkedAt: OrNull(TimestampShape),
  succeededAt: OrNull(TimestampShape),
  nextAt: OrNull(TimestampShape),
  failures: CountShape,
  error: OrNull(Type.String()),
});
export type SourceAnswer = Static<typeof SourceAnswerShape>;

/** `GET /regwatch`. */
export const RegwatchStateShape = Closed({
  success,
  sources: Type.Array(SourceAnswerShape),
  /** The newest items. */
  newest: Type.Array(
    Closed({ itemId: RegItemIdShape, title: Type.String(), ingestedAt: TimestampShape, sample: Type.Boolean() }),
  ),
});
export type RegwatchState = Static<typeof RegwatchStateShape>;
