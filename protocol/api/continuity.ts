import Type, { type Static } from 'typebox';
import { Closed, CursorShape, NodeIdShape, OrdinalShape, OrNull, RecordIdShape, Sha256Shape } from '../shapes.ts';
import { EXAMPLE_HASH, EXAMPLE_IDS } from './example-ids.ts';

/** A place of a source: its `sourceSeq`, from 1. */
const PlaceShape = OrdinalShape;

/** `GET /v1/sources/:id/continuity`. Both places are included. */
export const ContinuityQueryShape = Closed({
  from: Type.Optional(PlaceShape),
  to: Type.Optional(PlaceShape),
  cursor: Type.Optional(CursorShape),
});

const RangeShape = Closed({ from: OrdinalShape, to: OrdinalShape });

/** What a part of a source's chain is like, derived again from the stored records. */
export const ContinuityAnswerShape = Closed({
  success: Type.Literal(true),
  sourceId: Type.String(),
  node: NodeIdShape,
  firstSeq: OrdinalShape,
  lastSeq: OrdinalShape,
  /** Leaf hash of the last record; null where the node has lost it. */
  head: OrNull(Sha256Shape),
  /** Places that this answer is about; null where the source has none of those asked for. */
  checked: OrNull(RangeShape),
  /** Records that are whole, each naming the leaf hash of the one before. */
  ranges: Type.Array(RangeShape),
  /** Places whose records are not there, or cannot be read. */
  gaps: Type.Array(Closed({ from: OrdinalShape, to: OrdinalShape, reason: Type.Enum(['missing', 'damaged']) })),
  /** Records that do not follow the one before; without an id: the head does not follow the last record. */
  forks: Type.Array(
    Closed({
      sourceSeq: OrdinalShape,
      attestationId: OrNull(RecordIdShape),
      /** Leaf hash of the stored record before. */
      expected: OrNull(Sha256Shape),
      found: OrNull(Sha256Shape),
    }),
  ),
  /** Null where all that was asked for has been checked. */
  nextCursor: OrNull(Type.String()),
});
export type ContinuityAnswer = Static<typeof ContinuityAnswerShape>;

export const CONTINUITY_EXAMPLE = {
  success: true,
  sourceId: EXAMPLE_IDS.source,
  node: 'eu',
  firstSeq: 1,
  lastSeq: 1042,
  head: EXAMPLE_HASH,
  checked: { from: 1, to: 500 },
  ranges: [{ from: 1, to: 500 }],
  gaps: [],
  forks: [],
  nextCursor: 'WzUwMSw5MDA3MTk5MjU0NzQwOTkxXQ',
};
