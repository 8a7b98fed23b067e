import Type, { type Static } from 'typebox';
import { SignedCheckpointShape } from '../log/checkpoint.ts';
import { MisdeedProofShape, PROOF_FORMAT } from '../proof/misdeed.ts';
import {
  Closed,
  ConsensusTimestampShape,
  CursorShape,
  EntityIdShape,
  NodeIdShape,
  OrdinalShape,
  OrNull,
  Sha256Shape,
} from '../shapes.ts';
import { SignedStatementShape } from '../statement/statement.ts';

/** Numbers of one page at most: each with a few envelopes. */
export const EQUIVOCATIONS_PAGE = 32;
/** Envelopes of one number: those that the ledger names, and two more that members showed. */
const MAX_ENVELOPES = 4;

export const EquivocationsQueryShape = Closed({
  cursor: Type.Optional(CursorShape),
});

const NameShape = Closed({
  sequence: Type.String({ description: 'Sequence number of the message on the topic of the ledger.' }),
  consensusTimestamp: ConsensusTimestampShape,
  payer: EntityIdShape,
});

const EnvelopeShape = Closed({
  envelope: Sha256Shape,
  /** The message that names it, as this node has read the ledger; null where none does. */
  name: OrNull(NameShape),
  /** Whether that message decided it. */
  decided: Type.Boolean(),
  /** As it was signed; null until somebody shows it. */
  signed: OrNull(SignedStatementShape),
});

const EquivocationShape = Closed({
  node: NodeIdShape,
  batch: OrdinalShape,
  /** Both names come from the node's own account, and none of the keys was compromised: it is proven. */
  stands: Type.Boolean(),
  envelopes: Type.Array(EnvelopeShape, { maxItems: MAX_ENVELOPES }),
});
export type ShownEquivocation = Static<typeof EquivocationShape>;
export type ShownEnvelope = Static<typeof EnvelopeShape>;

/** `GET /v1/equivocations`. */
export const EquivocationsAnswerShape = Closed({
  success: Type.Literal(true),
  /** In order of nodes and numbers. */
  equivocations: Type.Array(EquivocationShape, { maxItems: EQUIVOCATIONS_PAGE }),
  /**
   * On the first page: checkpoints that the tree of this node contradicts, at most two of a member; none while most
   * members contradict that tree.
   */
  falseCheckpoints: Type.Array(SignedCheckpointShape),
  /**
   * On the first page: records in whose place the decided batch holds another, though their node gave a receipt for
   * them.
   */
  receiptsNotKept: Type.Array(Closed({ node: NodeIdShape, seq: OrdinalShape })),
  nextCursor: OrNull(CursorShape),
});
export type EquivocationsAnswer = Static<typeof EquivocationsAnswerShape>;

/** Proofs of one page at most: each carries what the federation says of itself. */
export const MISDEED_PROOFS_PAGE = 4;
/** False checkpoints of one member that are shown: the earliest, and that of the largest tree. */
const FALSE_SHOWN = 2;
/** Receipts of one node that are kept as evidence: one proves what many would. */
export const RECEIPTS_OF_A_NODE = 4;

/** Proofs of one answer at most: the first page has those of false checkpoints and receipts beside its own. */
export const MISDEED_PROOFS_SHOWN = MISDEED_PROOFS_PAGE + FALSE_SHOWN + RECEIPTS_OF_A_NODE;

/** `GET /v1/equivocations/:node`. */
export const MisdeedProofsAnswerShape = Closed({
  success: Type.Literal(true),
  node: NodeIdShape,
  /** Each is a file by itself. */
  proofs: Type.Array(MisdeedProofShape, { maxItems: MISDEED_PROOFS_SHOWN }),
  nextCursor: OrNull(CursorShape),
});
export type MisdeedProofsAnswer = Static<typeof MisdeedProofsAnswerShape>;

const HASH = `sha256:${'9f86d081'.repeat(8)}`;
const OTHER_HASH = `sha256:${'2c26b46b'.repeat(8)}`;
const SIGNED = { statement: '{"batch":1204,"envelope":"sha256:9f86…","type":"…"}', signature: 'mZ3kF1qW8t' };

export const EQUIVOCATIONS_EXAMPLE = {
  success: true,
  equivocations: [
    {
      node: 'eu',
      batch: 1204,
      stands: true,
      envelopes: [
        {
          envelope: HASH,
          name: { sequence: '88120', consensusTimestamp: '1795395600.000000001', payer: '0.0.1002' },
          decided: true,
          signed: SIGNED,
        },
        {
          envelope: OTHER_HASH,
          name: { sequence: '88131', consensusTimestamp: '1795395640.000000001', payer: '0.0.1002' },
          decided: false,
          signed: SIGNED,
        },
      ],
    },
  ],
  falseCheckpoints: [],
  receiptsNotKept: [{ node: 'eu', seq: 5120 }],
  nextCursor: null,
};

const PROOF = {
  format: PROOF_FORMAT,
  misdeed: {
    type: 'two-envelopes',
    first: { ...SIGNED, sequence: '88120' },
    second: { ...SIGNED, sequence: '88131' },
  },
  checkpoints: [{ text: '{"federation":"sha256:…","type":"checkpoint",…}', signature: 'mZ3kF1qW8t' }],
  keys: [SIGNED],
  revocations: [],
  rosters: [{ text: '{"type":"roster",…}', decision: null }],
};

export const MISDEED_PROOFS_EXAMPLE = { success: true, node: 'eu', proofs: [PROOF], nextCursor: null };
