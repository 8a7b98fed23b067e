import Type, { type Static } from 'typebox';
import { concatBytes, decodeUtf8, EncodingError } from '../bytes.ts';
import { MAX_BATCH_RECORDS } from '../chain/envelope-rules.ts';
import { Base64urlShape, Closed, OrdinalShape, OrNull, RecordIdShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { canonicalText, SignedStatementShape, StatementError } from '../statement/statement.ts';
import { DecisionProofShape, DisclosureShape } from '../verdict/bundle.ts';
import { chunksOf, type PackSource, type PlacedFile } from './container.ts';

/** Longest line of a file of proofs that is read: 32 MiB, twice the longest payload with its salt and its record. */
const MAX_LINE_BYTES = 32 << 20;
const LINE_END = 10;
/** Hashes of one multi-proof: of a group of 256 records in a tree of 65,536 there are fewer. */
const MAX_SIBLINGS = 8_192;
const Siblings = Type.Array(Sha256Shape, { maxItems: MAX_SIBLINGS });

/** One line of `proofs/batches.jsonl`: a sealed batch with its decision, and how many groups of it follow. */
const BatchLineShape = Closed({
  envelope: Type.String(),
  signature: Base64urlShape,
  decision: DecisionProofShape,
  groups: OrdinalShape,
});
export type BatchLine = Readonly<Static<typeof BatchLineShape>>;

/**
 * One line of `proofs/groups.jsonl`: a signed group, its records that the pack holds, and what leads them together to
 * the roots of the group and of its batch.
 */
const GroupLineShape = Closed({
  statement: SignedStatementShape.properties.statement,
  signature: SignedStatementShape.properties.signature,
  /** Of the records, ascending: no group has more than a batch. */
  seqs: Type.Array(OrdinalShape, { minItems: 1, maxItems: MAX_BATCH_RECORDS }),
  groupPath: Siblings,
  batchPath: Siblings,
});
export type GroupLine = Readonly<Static<typeof GroupLineShape>>;

/** One line of `records.jsonl`. */
const RecordLineShape = Closed({
  head: Type.String(),
  body: Type.String(),
  disclosure: Type.Optional(DisclosureShape),
});
export type RecordLine = Readonly<Static<typeof RecordLineShape>>;

/** `erasures.json`: payloads of records of the pack that were erased, in the order of the records. */
const ErasuresShape = Closed({
  erased: Type.Array(
    Closed({
      attestationId: RecordIdShape,
      /** The record of the erasure; null where it is not known any more which one it was. */
      erasure: OrNull(RecordIdShape),
      erasedAt: OrNull(TimestampShape),
    }),
  ),
  /** Files that another pack for the same question had otherwise, and why: its checkpoints by a key that was revoked. */
  replaced: Type.Array(Closed({ path: Type.String(), reason: Type.String() })),
});

export const batchLine = canonicalText('batch line', BatchLineShape);
export const groupLine = canonicalText('group line', GroupLineShape);
export const recordLine = canonicalText('record line', RecordLineShape);
export const packErasures = canonicalText('erasures', ErasuresShape);

/** The lines of a file, each of which a line end follows. Throws `StatementError` where the file is otherwise. */
export async function* linesOf(source: PackSource, file: PlacedFile): AsyncGenerator<string> {
  const { name } = file;
  let rest: Uint8Array = new Uint8Array();
  for await (const chunk of chunksOf(source, file)) {
    let begin = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, begin)) {
      const piece = chunk.subarray(begin, end);
      yield textOf(name, rest.length === 0 ? piece : concatBytes(rest, piece));
      rest = new Uint8Array();
      begin = end + 1;
    }
    rest = concatBytes(rest, chunk.subarray(begin));
    if (rest.length > MAX_LINE_BYTES) throw new StatementError(`${name}: a line is too long`);
  }
  if (rest.length > 0) throw new StatementError(`${name}: its last line has no end`);
}

function textOf(name: string, bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes);
  } catch (error) {
    if (!(error instanceof EncodingError)) throw error;
    throw new StatementError(`${name}: it is not UTF-8`);
  }
}
