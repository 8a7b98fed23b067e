import Type, { type Static } from 'typebox';
import { Closed, NodeIdShape, OrdinalShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { statementKind } from './statement.ts';

/** The signed head of a batch. `prev` is the hash of the envelope before, so a node's batches form one chain. */
const EnvelopeShape = Closed({
  v: Type.Literal(1),
  type: Type.Literal('batch'),
  node: NodeIdShape,
  /** Gapless batch number of the node, from 1. */
  batch: OrdinalShape,
  first: OrdinalShape,
  size: OrdinalShape,
  root: Sha256Shape,
  prev: Type.Union([Sha256Shape, Type.Null()]),
  sealedAt: TimestampShape,
  keyId: Sha256Shape,
  /** Version of the roster in force, by which the batch is judged. */
  roster: OrdinalShape,
});
export type Envelope = Static<typeof EnvelopeShape>;

export const envelopeStatement = statementKind('envelope', 'meridian/batch/1', EnvelopeShape);
