import Type, { type Static } from 'typebox';
import { Closed, NodeIdShape, OrdinalShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { statementKind } from './statement.ts';

/** Says that `node` signed the `size` records from `first` on, as one tree with this root. Makes their receipts. */
const GroupShape = Closed({
  v: Type.Literal(1),
  type: Type.Literal('group'),
  node: NodeIdShape,
  first: OrdinalShape,
  size: OrdinalShape,
  root: Sha256Shape,
  keyId: Sha256Shape,
  signedAt: TimestampShape,
});
export type Group = Static<typeof GroupShape>;

export const groupStatement = statementKind('group', 'meridian/group/1', GroupShape);
