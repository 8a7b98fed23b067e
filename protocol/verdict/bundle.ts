import Type, { type Static } from 'typebox';
import { DEFAULT_MAX_DEPTH } from '../json/parse.ts';
import type { JsonValue } from '../json/value.ts';
import { SignedCheckpointShape } from '../log/checkpoint.ts';
import { Base64urlShape, Closed, OrdinalShape, OrNull, Sha256Shape } from '../shapes.ts';
import { SignedStatementShape } from '../statement/statement.ts';

export const BUNDLE_FORMAT = 'meridian-bundle/2';

/** Longest text of a bundle, or of another file of proofs, that is parsed: 16 MiB. In UTF-16 code units. */
export const MAX_BUNDLE_CHARACTERS = 16 << 20;
/** Items of each list of a bundle. */
export const MAX_ITEMS = 1024;
/** An inclusion proof is never longer than the tree is high; no tree here has 2^64 leaves. */
const MAX_PATH = 64;
/** Records linked to the one of a bundle that it may carry. */
export const MAX_LINKED = 128;
/** Nesting of a bundle: that of a payload, inside a disclosure of a linked record. */
export const BUNDLE_MAX_DEPTH = DEFAULT_MAX_DEPTH + 4;

export const PathShape = Type.Array(Sha256Shape, { maxItems: MAX_PATH });

/** A leaf of the federation's log, and how it walks to the root of each size of checkpoint that it is proven under. */
export const DecisionProofShape = Closed(
  {
    text: Type.String(),
    paths: Type.Array(Closed({ size: OrdinalShape, path: PathShape }, { title: 'TreePath' }), { maxItems: MAX_ITEMS }),
  },
  { title: 'DecisionProof' },
);
export type DecisionProof = Static<typeof DecisionProofShape>;

const RecordTextsShape = Closed({ head: Type.String(), body: OrNull(Type.String()) }, { title: 'RecordTexts' });
const PayloadShape = Type.Unsafe<JsonValue>(Type.Unknown({ description: 'The request, as it was recorded.' }));
export const DisclosureShape = Closed({ salt: Base64urlShape, payload: PayloadShape }, { title: 'Disclosure' });
export type Disclosure = Static<typeof DisclosureShape>;

/** What proves one record, given the rest of its bundle. */
const PROOF = {
  receipt: Closed({ statement: Type.String(), signature: Base64urlShape, path: PathShape }, { title: 'Receipt' }),
  /** Null until the record's batch is sealed. */
  batch: OrNull(
    Closed({ envelope: Type.String(), signature: Base64urlShape, path: PathShape }, { title: 'SealedBatch' }),
  ),
  /** Null until the batch is decided. */
  decision: OrNull(DecisionProofShape),
};

/** A record beside that of a bundle. A signature or decision is absent where the same text stands before it. */
const LinkedProofShape = Closed(
  {
    record: RecordTextsShape,
    receipt: Closed({ statement: Type.String(), signature: Type.Optional(Base64urlShape), path: PathShape }),
    batch: OrNull(Closed({ envelope: Type.String(), signature: Type.Optional(Base64urlShape), path: PathShape })),
    decision: Type.Optional(OrNull(DecisionProofShape)),
    disclosure: Type.Optional(DisclosureShape),
  },
  { title: 'LinkedProof' },
);
export type LinkedProof = Static<typeof LinkedProofShape>;

/** A revocation as it travels: signed by its node's identity key, and decided. */
const RevocationProofShape = Closed(
  {
    statement: Type.String(),
    signature: Base64urlShape,
    decision: DecisionProofShape,
  },
  { title: 'RevocationProof' },
);
export type RevocationProof = Static<typeof RevocationProofShape>;

/** A roster's text and the decision that brought it into force; null for the genesis, which is known by its hash. */
const RosterEntryShape = Closed(
  { text: Type.String(), decision: OrNull(DecisionProofShape) },
  { title: 'RosterEntry' },
);
export type RosterEntry = Static<typeof RosterEntryShape>;

const ListOfRosters = Type.Array(RosterEntryShape, { minItems: 1, maxItems: MAX_ITEMS });

/** What a file of proofs says of the federation: who speaks for whom, and what they say of its log. */
export const FEDERATION = {
  checkpoints: Type.Array(SignedCheckpointShape, { maxItems: MAX_ITEMS }),
  keys: Type.Array(SignedStatementShape, { maxItems: MAX_ITEMS }),
  revocations: Type.Array(RevocationProofShape, { maxItems: MAX_ITEMS }),
  /** From the genesis to the newest that witnesses are counted within. */
  rosters: ListOfRosters,
};
/** The same in a file by itself, as a pack of evidence holds it for all its records. */
export const FederationFileShape = Closed(FEDERATION, { title: 'FederationFile' });
export type FederationFile = Static<typeof FederationFileShape>;
export type FederationStatements = Pick<FederationFile, 'checkpoints' | 'keys' | 'revocations'>;

/** Reserved: no part of the verdict. */
const TIMESTAMPS = { timestamps: Type.Optional(Type.Array(Base64urlShape, { maxItems: MAX_ITEMS })) };

/** One file that proves one record with no network (protocol §7). */
export const BundleShape = Closed(
  {
    format: Type.Literal(BUNDLE_FORMAT),
    record: RecordTextsShape,
    ...PROOF,
    ...FEDERATION,
    ...TIMESTAMPS,
    disclosure: Type.Optional(DisclosureShape),
    /** Records that the evidence rules read beside this one. */
    linked: Type.Optional(Type.Array(LinkedProofShape, { maxItems: MAX_LINKED })),
  },
  { title: 'Bundle' },
);
export type Bundle = Static<typeof BundleShape>;

/** A bundle that shows the head of its record alone: id, kind, node and time, for anyone who has the id. */
export const PublicProofShape = Closed(
  {
    format: Type.Literal(BUNDLE_FORMAT),
    record: Closed({ head: Type.String(), body: Type.Null() }),
    ...PROOF,
    ...FEDERATION,
    ...TIMESTAMPS,
  },
  { title: 'PublicProof' },
);
export type PublicProof = Static<typeof PublicProofShape>;

/** Revocations that a verifier brings beside a bundle, with what proves that they were decided. */
export const RevocationsFileShape = Closed({
  revocations: FEDERATION.revocations,
  checkpoints: FEDERATION.checkpoints,
  keys: FEDERATION.keys,
});
export type RevocationsFile = Static<typeof RevocationsFileShape>;

/** Rosters that a verifier takes as known: the `rosters` of a bundle. */
export const RosterFileShape = ListOfRosters;
export type RosterFile = Static<typeof RosterFileShape>;
