import Type, { type Static } from 'typebox';
import { Closed, NodeIdShape, OrdinalShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { statementKind } from '../statement/statement.ts';

/**
 * The signed head of a batch. `prev` is the hash of the envelope before, so a node's batches form one chain (protocol
 * §6).
 */
const EnvelopeShape = Closed({
  v: Type.Literal(2),
  type: Type.Literal('batch'),
  node: NodeIdShape,
  /** Gapless batch number of the node, from 1. */
  batch: OrdinalShape,
  /** First record of the batch, and how many there are. */
  first: OrdinalShape,
  size: OrdinalShape,
  root: Sha256Shape,
  prev: Type.Union([Sha256Shape, Type.Null()]),
  /** Every record of the batch was submitted from this time on … */
  from: TimestampShape,
  /** … and not after this one. */
  sealedAt: TimestampShape,
  keyId: Sha256Shape,
});
export type Envelope = Static<typeof EnvelopeShape>;

export const envelopeStatement = statementKind('envelope', 'meridian/batch/1', EnvelopeShape);
