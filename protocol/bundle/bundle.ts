import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { SignedRosterShape } from '../keys/signed-roster.ts';
import { DEFAULT_MAX_DEPTH, parseJson } from '../json/parse.ts';
import { isJsonObject, type JsonValue } from '../json/value.ts';
import { Base64urlShape, Closed, ConsensusTimestampShape, EntityIdShape, Sha256Shape, Sha384Shape } from '../shapes.ts';
import { shapeFault } from '../shape-fault.ts';
import { SignedStatementShape } from '../statement/statement.ts';

export const BUNDLE_FORMAT = 'meridian-bundle/1';

/** An inclusion proof is never longer than the tree is high; no tree here has 2^64 leaves. */
const MAX_PATH = 64;
const MAX_STATEMENTS = 1024;

/** Nesting of a bundle: that of a payload, inside `disclosure`, inside the bundle. */
export const BUNDLE_MAX_DEPTH = DEFAULT_MAX_DEPTH + 2;

const PathShape = Type.Array(Sha256Shape, { maxItems: MAX_PATH });

export const BundleAnchorShape = Closed({
  network: Type.String(),
  topicId: EntityIdShape,
  payer: EntityIdShape,
  sequence: Type.String({ pattern: '^[1-9]\\d{0,18}$' }),
  consensusTimestamp: ConsensusTimestampShape,
  /** Informative: the running hash does not cover it. */
  transactionId: Type.Union([Type.String(), Type.Null()]),
  message: Type.String(),
  previousRunningHash: Sha384Shape,
  runningHash: Sha384Shape,
});
export type BundleAnchor = Static<typeof BundleAnchorShape>;

/** Records linked to the one of a bundle that it may carry. */
export const MAX_LINKED_PROOFS = 128;

/** What proves one record, given keys and rosters. Signed things are the exact canonical strings that were signed. */
const PROOF = {
  record: Closed({ head: Type.String(), body: Type.String() }),
  receipt: Closed({ statement: Type.String(), signature: Base64urlShape, path: PathShape }),
  /** Null until the record's batch is sealed. */
  batch: Type.Union([Closed({ envelope: Type.String(), signature: Base64urlShape, path: PathShape }), Type.Null()]),
  cosignatures: Type.Array(SignedStatementShape, { maxItems: MAX_STATEMENTS }),
  /** Null until the ledger's message was read back. */
  anchor: Type.Union([BundleAnchorShape, Type.Null()]),
};
const ProofShape = Closed(PROOF);
export type Proof = Static<typeof ProofShape>;

const PayloadShape = Type.Unsafe<JsonValue>(Type.Unknown({ description: 'The request, as it was recorded.' }));

/** One file that proves one record with no network. */
export const BundleShape = Closed({
  format: Type.Literal(BUNDLE_FORMAT),
  ...PROOF,
  keys: Type.Array(SignedStatementShape, { maxItems: MAX_STATEMENTS }),
  revocations: Type.Array(SignedStatementShape, { maxItems: MAX_STATEMENTS }),
  /** From genesis on. */
  rosters: Type.Array(SignedRosterShape, { minItems: 1, maxItems: MAX_STATEMENTS }),
  disclosure: Type.Optional(Closed({ salt: Base64urlShape, payload: PayloadShape })),
  /** Records that the evidence rules read beside this one. Keys and rosters of the bundle serve them all. */
  linked: Type.Optional(Type.Array(ProofShape, { maxItems: MAX_LINKED_PROOFS })),
});
export type Bundle = Static<typeof BundleShape>;

const compiled = Compile(BundleShape);

/** Records were one text then. */
const OF_RELEASE_0_1 = 'is of the 0.1 release, whose bundles are not read any more: verify it with that release';

export class BundleError extends Error {
  override readonly name = 'BundleError';
  /** JSON pointer of the member at fault. */
  readonly pointer: string;

  constructor(pointer: string, message: string) {
    super(message);
    this.pointer = pointer;
  }
}

/** Reads the text of a bundle. Throws `JsonError` on what is not strict JSON, and `BundleError`. */
export function parseBundleText(text: string): Bundle {
  return parseBundle(parseJson(text, { maxDepth: BUNDLE_MAX_DEPTH }));
}

/** Reads the shape of a bundle. Throws `BundleError` on unknown members, wrong types and bad encodings. */
export function parseBundle(value: JsonValue): Bundle {
  if (compiled.Check(value)) return value;
  if (isJsonObject(value) && typeof value.record === 'string') throw new BundleError('/record', OF_RELEASE_0_1);
  const { pointer, message } = shapeFault(compiled, value);
  throw new BundleError(pointer, message);
}
