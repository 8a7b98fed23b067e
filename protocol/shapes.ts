import Type, { type Static, type TProperties, type TSchema } from 'typebox';
import {
  type EntityId,
  ENTITY_ID_PATTERN,
  NODE_ID_PATTERN,
  type NodeId,
  RECORD_ID_PATTERN,
  type RecordId,
} from './ids.ts';
import type { JsonObject } from './json/value.ts';
import { SHA256_PATTERN, SHA384_PATTERN, type Sha256Hash, type Sha384Hash } from './hash.ts';
import {
  type ConsensusTimestamp,
  CONSENSUS_TIMESTAMP_PATTERN,
  isTimestamp,
  type Timestamp,
  TIMESTAMP_PATTERN,
} from './time.ts';

/** Unpadded base64url text of a signature, key or salt. Its length in bytes is checked where it is decoded. */
export type Base64url = string & { readonly __brand: 'Base64url' };

/** The member of a shape that holds its documented keywords. */
export const DOCUMENTED = 'x-documented';

const BASE64URL_PATTERN = '^[A-Za-z0-9_-]+$';

/** The schemas that every signed shape is made of: the pattern checks the form, the static type carries the brand. */
export const NodeIdShape = Type.Unsafe<NodeId>(Type.String({ title: 'NodeId', pattern: NODE_ID_PATTERN }));
export const RecordIdShape = Type.Unsafe<RecordId>(Type.String({ title: 'RecordId', pattern: RECORD_ID_PATTERN }));
export const EntityIdShape = Type.Unsafe<EntityId>(Type.String({ title: 'EntityId', pattern: ENTITY_ID_PATTERN }));
export const Sha256Shape = Type.Unsafe<Sha256Hash>(Type.String({ title: 'Sha256', pattern: SHA256_PATTERN }));
export const Sha384Shape = Type.Unsafe<Sha384Hash>(Type.String({ pattern: SHA384_PATTERN }));
export const TimestampShape = Type.Unsafe<Timestamp>(
  Type.Refine(
    Type.String({ title: 'Timestamp', pattern: TIMESTAMP_PATTERN, ...documented({ format: 'date-time' }) }),
    isTimestamp,
    () => 'is not a time that exists',
  ),
);
export const ConsensusTimestampShape = Type.Unsafe<ConsensusTimestamp>(
  Type.String({ title: 'ConsensusTimestamp', pattern: CONSENSUS_TIMESTAMP_PATTERN }),
);
export const Base64urlShape = Type.Unsafe<Base64url>(Type.String({ title: 'Base64url', pattern: BASE64URL_PATTERN }));
/** Characters of a cursor at most: longer ones are none of a node's. */
export const MAX_CURSOR_CHARACTERS = 1_024;
/** Where the next page of a list starts, as a caller hands it back. */
export const CursorShape = Type.String({ minLength: 1, maxLength: MAX_CURSOR_CHARACTERS });
export const CountShape = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const OrdinalShape = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

/** What the document of an API says of a shape beside what is checked by it. */
export interface ShapeWords {
  /** Name of the schema there: shapes of one name are one schema. */
  readonly title?: string;
  readonly description?: string;
  readonly [DOCUMENTED]?: JsonObject;
}

/** Keywords that are checked apart from the shape, with codes of their own: documented, and unknown to the compiler. */
export function documented(keywords: JsonObject): { readonly [DOCUMENTED]: JsonObject } {
  return { [DOCUMENTED]: keywords };
}

const TEXT = { type: 'string' };
/** Members of a condition, by what they are. */
const MEMBER_SHAPES = { text: TEXT, texts: { type: 'array', items: TEXT } } as const;

/** Condition of an object: as many of these members as `how` says are there. Documented, and checked apart. */
export function needs(how: 'anyOf' | 'oneOf', members: Readonly<Record<string, keyof typeof MEMBER_SHAPES>>) {
  const present = Object.entries(members).map(([name, shape]) => ({
    type: 'object',
    required: [name],
    properties: { [name]: MEMBER_SHAPES[shape] },
  }));
  // Of `not` generators of clients make no types.
  return documented({ not: { type: 'object', not: { [how]: present } } });
}

/** An object with these members and no other. */
export function Closed<Members extends TProperties>(members: Members, words: ShapeWords = {}) {
  return Type.Object(members, { ...words, additionalProperties: false });
}

/** A value of exactly one of these shapes. */
export function OneOf<Shapes extends readonly TSchema[]>(...shapes: Shapes) {
  return Type.Unsafe<Static<Shapes[number]>>({ oneOf: shapes });
}

/** A value of this shape, or null. */
export function OrNull<Shape extends TSchema>(shape: Shape) {
  return Type.Union([shape, Type.Null()]);
}
