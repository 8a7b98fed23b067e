import Type, { type Static } from 'typebox';
import { Base64urlShape, Closed, NodeIdShape, OrdinalShape, Sha256Shape } from '../shapes.ts';
import { NODE_ID_PATTERN } from '../ids.ts';
import { statementKind } from '../statement/statement.ts';

/** Members that one checkpoint vouches for at most: as many as a roster may ever have named. */
export const MAX_VOUCHED = 4096;

/**
 * A member's word on the federation's log: its tree of `size` decisions has this root, and it has derived every batch
 * of each node in `vouched` up to that number, without a gap (protocol §4). There is no time in it.
 */
const CheckpointShape = Closed({
  v: Type.Literal(1),
  type: Type.Literal('checkpoint'),
  /** Hash of the genesis roster. */
  federation: Sha256Shape,
  /** The member that signs, and its key. */
  node: NodeIdShape,
  keyId: Sha256Shape,
  size: OrdinalShape,
  root: Sha256Shape,
  /** Node → its last batch that is vouched for, from 1. */
  vouched: Type.Record(Type.String({ pattern: NODE_ID_PATTERN }), OrdinalShape, {
    additionalProperties: false,
    maxProperties: MAX_VOUCHED,
  }),
});
export type Checkpoint = Static<typeof CheckpointShape>;

export const checkpointStatement = statementKind('checkpoint', 'meridian/checkpoint/1', CheckpointShape);

/** A checkpoint as it travels: its exact text, and the signature over it. */
export const SignedCheckpointShape = Closed(
  {
    text: Type.String({ minLength: 1, maxLength: 1 << 20 }),
    signature: Base64urlShape,
  },
  { title: 'SignedCheckpoint' },
);
export type SignedCheckpoint = Static<typeof SignedCheckpointShape>;
