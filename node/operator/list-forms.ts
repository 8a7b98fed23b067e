import Type, { type Static } from 'typebox';
import { Closed, CountShape, RecordIdShape, Sha256Shape, TimestampShape } from '../../protocol/shapes.ts';
import { LIST_ERROR_CODES } from '../screening/lists/list-error.ts';
import { LIST_IDS } from '../screening/lists/list-id.ts';

/** What an operator asks about lists, and what is answered. Both ends of the socket read these forms. */
const success = Type.Literal(true);
const ListIdShape = Type.Enum([...LIST_IDS]);
const nullable = <Shape extends Type.TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);

const EditionShape = Closed({
  fileHash: Sha256Shape,
  fileDate: nullable(Type.String()),
  retrievedAt: TimestampShape,
  entryCount: CountShape,
  nameCount: CountShape,
  /** Rows of companion files that belong to no entry. */
  unmatchedRows: CountShape,
  sample: Type.Boolean(),
  attestationId: RecordIdShape,
});
export type EditionAnswer = Static<typeof EditionShape>;

/** `POST /lists/:list/import`: from the list's sub-folder of a folder that the node can read. */
export const ImportListShape = Closed({
  directory: Type.String({ minLength: 1 }),
  acceptShrink: Type.Optional(Type.Boolean()),
});
/** `POST /lists/:list/update`: from its configured source. */
export const UpdateListShape = Closed({ acceptShrink: Type.Optional(Type.Boolean()) });

/** `not-given`: the folder has nothing for this list. Refused: the edition in force, if any, stays. */
export const ListOutcomeShape = Closed({
  success,
  listId: ListIdShape,
  outcome: Type.Enum(['taken', 'unchanged', 'not-given', 'refused']),
  code: nullable(Type.Enum([...LIST_ERROR_CODES])),
  detail: nullable(Type.String()),
  /** Files of the folder that are no part of the list as it is read. */
  ignored: Type.Array(Type.String()),
  /** The edition that is in force now. */
  edition: nullable(EditionShape),
});
export type ListOutcome = Static<typeof ListOutcomeShape>;

const ListStateShape = Closed({
  listId: ListIdShape,
  /** `damaged`: the files of the edition that was taken last are gone, or others; it counts as missing. */
  freshness: Type.Enum(['fresh', 'stale', 'too-old', 'damaged', 'missing']),
  edition: nullable(EditionShape),
  /** Editions whose files are kept. */
  kept: CountShape,
  /** Null where the node has no source for it. */
  source: nullable(Closed({ checkedAt: nullable(TimestampShape), failure: nullable(Type.String()) })),
});
export type ListState = Static<typeof ListStateShape>;
/** `GET /lists`. */
export const ListStatesShape = Closed({ success, lists: Type.Array(ListStateShape) });
