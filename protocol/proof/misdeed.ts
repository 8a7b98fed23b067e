import Type, { type Static } from 'typebox';
import { SignedCheckpointShape } from '../log/checkpoint.ts';
import { Base64urlShape, Closed, CountShape, OrdinalShape, Sha256Shape } from '../shapes.ts';
import { DecisionProofShape, FEDERATION, MAX_ITEMS, PathShape } from '../verdict/bundle.ts';

export const PROOF_FORMAT = 'meridian-proof/2';

/** Longest envelope, group or other small signed text that a proof may carry, in UTF-16 units. */
const MAX_TEXT = 4096;
const TextShape = Type.String({ minLength: 1, maxLength: MAX_TEXT });

/** Where a message stands on the federation's topic, in decimal, as decisions say it. */
const SequenceShape = Type.String({ pattern: '^[1-9]\\d{0,18}$' });

/** An envelope as it was signed, and the ledger message by which its own node named it. */
const NamedEnvelopeShape = Closed({ statement: TextShape, signature: Base64urlShape, sequence: SequenceShape });

/** A signed tree of records, and the leaf that it has in one place. */
const GroupPlaceShape = Closed({ statement: TextShape, signature: Base64urlShape, leaf: Sha256Shape, path: PathShape });
const BatchPlaceShape = Closed({ envelope: TextShape, signature: Base64urlShape, leaf: Sha256Shape, path: PathShape });

/**
 * What shows that of two trees neither is the beginning of the other: the root that the larger one had at the size of
 * the smaller, with the proof of consistency (RFC 9162 §2.1.4; empty where they are of one size), or the leaves that
 * both have in one place, in the order of the trees.
 */
const DifferenceShape = Type.Union(
  [
    Closed({ type: Type.Literal('beginning'), root: Sha256Shape, path: PathShape }),
    Closed({
      type: Type.Literal('leaf'),
      index: CountShape,
      first: Closed({ leaf: Sha256Shape, path: PathShape }),
      second: Closed({ leaf: Sha256Shape, path: PathShape }),
    }),
  ],
  { title: 'TreeDifference' },
);
export type Difference = Static<typeof DifferenceShape>;

const TwoEnvelopesShape = Closed({
  type: Type.Literal('two-envelopes'),
  first: NamedEnvelopeShape,
  second: NamedEnvelopeShape,
});
export type TwoEnvelopes = Static<typeof TwoEnvelopesShape>;

const ReceiptNotKeptShape = Closed({
  type: Type.Literal('receipt-not-kept'),
  /** Number of the record, as its node counts. */
  seq: OrdinalShape,
  receipt: GroupPlaceShape,
  batch: BatchPlaceShape,
  /** That this very envelope was decided. */
  decision: DecisionProofShape,
});
export type ReceiptNotKept = Static<typeof ReceiptNotKeptShape>;

const TwoCheckpointsShape = Closed({
  type: Type.Literal('two-checkpoints'),
  first: SignedCheckpointShape,
  second: SignedCheckpointShape,
  difference: DifferenceShape,
});
export type TwoCheckpoints = Static<typeof TwoCheckpointsShape>;

const FalseCheckpointShape = Closed({
  type: Type.Literal('false-checkpoint'),
  checkpoint: SignedCheckpointShape,
  /**
   * Heads that other members signed, each with how the tree of the checkpoint, as the first of two, differs from it.
   */
  against: Type.Array(Closed({ size: OrdinalShape, root: Sha256Shape, difference: DifferenceShape }), {
    maxItems: MAX_ITEMS,
  }),
});
export type FalseCheckpoint = Static<typeof FalseCheckpointShape>;

/**
 * What a member did against the protocol, under its own signature: one file that anyone judges (protocol §8). It
 * accuses; it moves no verdict of what was decided. `checkpoints`, `keys`, `revocations` and `rosters` are as in a
 * bundle.
 */
export const MisdeedProofShape = Closed({
  format: Type.Literal(PROOF_FORMAT),
  misdeed: Type.Union([TwoEnvelopesShape, ReceiptNotKeptShape, TwoCheckpointsShape, FalseCheckpointShape]),
  ...FEDERATION,
});
export type MisdeedProof = Static<typeof MisdeedProofShape>;
export type Misdeed = MisdeedProof['misdeed']['type'];
