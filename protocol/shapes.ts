import Type, { type TProperties, type TSchema } from 'typebox';
import {
  type EntityId,
  ENTITY_ID_PATTERN,
  NODE_ID_PATTERN,
  type NodeId,
  RECORD_ID_PATTERN,
  type RecordId,
} from './ids.ts';
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

const BASE64URL_PATTERN = '^[A-Za-z0-9_-]+$';

/** The schemas that every signed shape is made of: the pattern checks the form, the static type carries the brand. */
export const NodeIdShape = Type.Unsafe<NodeId>(Type.String({ pattern: NODE_ID_PATTERN }));
export const RecordIdShape = Type.Unsafe<RecordId>(Type.String({ pattern: RECORD_ID_PATTERN }));
export const EntityIdShape = Type.Unsafe<EntityId>(Type.String({ pattern: ENTITY_ID_PATTERN }));
export const Sha256Shape = Type.Unsafe<Sha256Hash>(Type.String({ pattern: SHA256_PATTERN }));
export const Sha384Shape = Type.Unsafe<Sha384Hash>(Type.String({ pattern: SHA384_PATTERN }));
export const TimestampShape = Type.Unsafe<Timestamp>(
  Type.Refine(Type.String({ pattern: TIMESTAMP_PATTERN }), isTimestamp, () => 'is not a time that exists'),
);
export const ConsensusTimestampShape = Type.Unsafe<ConsensusTimestamp>(
  Type.String({ pattern: CONSENSUS_TIMESTAMP_PATTERN }),
);
export const Base64urlShape = Type.Unsafe<Base64url>(Type.String({ pattern: BASE64URL_PATTERN }));
export const CountShape = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const OrdinalShape = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

/** An object with these members and no other. */
export function Closed<Members extends TProperties>(members: Members) {
  return Type.Object(members, { additionalProperties: false });
}

/** A value of this shape, or null. */
export function OrNull<Shape extends TSchema>(shape: Shape) {
  return Type.Union([shape, Type.Null()]);
}
