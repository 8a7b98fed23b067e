import Type, { type Static } from 'typebox';
import { Closed, NodeIdShape, OrdinalShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { statementKind } from './statement.ts';

/**
 * Says that `witness` fetched the batch's body, re-derived every leaf, matched root and chain, and has seen no rival
 * envelope. Never made by the batch's own node.
 */
const CosignatureShape = Closed({
  v: Type.Literal(1),
  type: Type.Literal('cosign'),
  node: NodeIdShape,
  batch: OrdinalShape,
  envelope: Sha256Shape,
  witness: NodeIdShape,
  at: TimestampShape,
  keyId: Sha256Shape,
});
export type Cosignature = Static<typeof CosignatureShape>;

export const cosignatureStatement = statementKind('cosignature', 'meridian/cosign/1', CosignatureShape);
