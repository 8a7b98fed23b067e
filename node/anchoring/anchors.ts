import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { type BundleAnchor, BundleAnchorShape } from '../../protocol/bundle/bundle.ts';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { batchAnchor, writeAnchorMessage } from '../../protocol/ledger/anchor-message.ts';
import { Closed, ConsensusTimestampShape, NodeIdShape, OrdinalShape, Sha256Shape } from '../../protocol/shapes.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { readBatch } from '../sealing/batch-tables.ts';
import type { Store } from '../store/store.ts';
import { jsonCodec, Table } from '../store/table.ts';

const SightingShape = Closed({ sequence: Type.String(), consensusTimestamp: ConsensusTimestampShape });

const AnchorRowShape = Closed({
  node: NodeIdShape,
  batch: OrdinalShape,
  envelope: Sha256Shape,
  /** The first occurrence of the message on the topic. */
  anchor: BundleAnchorShape,
  /** Later occurrences of the same message, the earliest of them only. */
  alsoAnchoredAt: Type.Array(SightingShape),
});
/** One anchor message of one batch, read from the ledger and linked by its running hash. */
export type AnchorRow = Static<typeof AnchorRowShape>;

const compiled = Compile(AnchorRowShape);
const anchorCodec = jsonCodec((value: unknown): value is AnchorRow => compiled.Check(value));

/** Later occurrences that are kept; whoever may write to the topic can repeat a message at will. */
export const MAX_SIGHTINGS = 8;

/**
 * (node, batch, message hash) → the first occurrence of that message. The ledger does not say who may anchor for a
 * node, so a row counts only for the envelope whose anchor message is this very text: a stranger who writes first, with
 * another envelope or with the right one and a wrong root, takes no place away.
 */
export const anchorTable = new Table('anchor', anchorCodec);
/** (node, batch, message hash) → a message for a batch that another message had anchored before. */
export const rivalAnchorTable = new Table('rival-anchor', anchorCodec);

const StatementAnchorRowShape = Closed({
  type: Type.Enum(['key', 'revocation', 'roster']),
  node: NodeIdShape,
  statement: Sha256Shape,
  anchor: BundleAnchorShape,
});
/** A message that names a statement by its hash: whoever wrote it, the statement existed then. */
export type StatementAnchorRow = Static<typeof StatementAnchorRowShape>;
const compiledStatement = Compile(StatementAnchorRowShape);

/** (statement hash, sequence) → a message that names the statement, the earliest of them only. */
export const statementAnchorTable = new Table(
  'statement-anchor',
  jsonCodec((value: unknown): value is StatementAnchorRow => compiledStatement.Check(value)),
);

/**
 * The first message on the topic that names a statement, as what `type` says if given; undefined while the ledger has not
 * been seen to show one. The rows of a statement are few: some of each type.
 */
export async function readStatementAnchor(
  store: Store,
  statement: Sha256Hash,
  type?: StatementAnchorRow['type'],
): Promise<StatementAnchorRow | undefined> {
  for await (const [, row] of statementAnchorTable.under(store, [statement])) {
    if (type === undefined || row.type === type) return row;
  }
  return undefined;
}

export function messageHash(message: string): Sha256Hash {
  return hashText(nativeSuite, message);
}

/** The first occurrence of exactly this message. */
export function readAnchor(store: Store, node: NodeId, batch: number, message: string): Promise<AnchorRow | undefined> {
  return anchorTable.get(store, node, batch, messageHash(message));
}

/** The anchor of an envelope that this store holds; undefined while the ledger has not been seen to show it. */
export async function anchorOfBatch(
  store: Store,
  federation: string,
  node: NodeId,
  batch: number,
  envelope: Sha256Hash,
): Promise<BundleAnchor | undefined> {
  const stored = await readBatch(store, node, batch);
  if (stored === undefined || hashText(nativeSuite, stored.signed.statement) !== envelope) return undefined;
  const expected = batchAnchor(nativeSuite, federation, stored.envelope, stored.signed.statement);
  return (await readAnchor(store, node, batch, writeAnchorMessage(expected)))?.anchor;
}
