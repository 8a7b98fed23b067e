import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { type RevocationMessage, type RosterMessage, writeLedgerMessage } from '../../protocol/log/message.ts';
import {
  Closed,
  ConsensusTimestampShape,
  EntityIdShape,
  NodeIdShape,
  OrdinalShape,
  Sha256Shape,
  Sha384Shape,
} from '../../protocol/shapes.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { Store } from '../store/store.ts';
import { jsonCodec, Table } from '../store/table.ts';

/** Where a message stands on the ledger's topic, as a mirror shows it. */
const AnchorShape = Closed({
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
export type Anchor = Static<typeof AnchorShape>;

const SightingShape = Closed({ sequence: Type.String(), consensusTimestamp: ConsensusTimestampShape });

const AnchorRowShape = Closed({
  node: NodeIdShape,
  batch: OrdinalShape,
  envelope: Sha256Shape,
  /** The first occurrence of the message on the topic. */
  anchor: AnchorShape,
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
 * (node, batch, message hash) → the first occurrence of that message, whoever paid for it. A row counts only for the envelope
 * that this very text names, so that a stranger who writes first, with another envelope or with the right one and a wrong
 * key, takes no place away.
 */
export const anchorTable = new Table('anchor', anchorCodec);

const StatementAnchorRowShape = Closed({
  type: Type.Enum(['revocation', 'roster']),
  statement: Sha256Shape,
  anchor: AnchorShape,
});
/** A message that names a roster or a revocation by its hash: whoever wrote it, the text existed then. */
export type StatementAnchorRow = Static<typeof StatementAnchorRowShape>;
const compiledStatement = Compile(StatementAnchorRowShape);

/**
 * (statement hash, message hash) → the first occurrence of that message. Two names are the same only where their whole
 * texts are: a stranger who names a roster after another one, or a revocation of another key, takes no place away.
 */
export const statementAnchorTable = new Table(
  'statement-anchor',
  jsonCodec((value: unknown): value is StatementAnchorRow => compiledStatement.Check(value)),
);

/** The first occurrence of exactly this message; undefined while the ledger has not been seen to show it. */
export function readStatementAnchor(
  store: Store,
  message: RosterMessage | RevocationMessage,
): Promise<StatementAnchorRow | undefined> {
  return statementAnchorTable.get(store, message.statement, messageHash(writeLedgerMessage(message)));
}

export function messageHash(message: string): Sha256Hash {
  return hashText(nativeSuite, message);
}

/** The first occurrence of exactly this message. */
export function readAnchor(store: Store, node: NodeId, batch: number, message: string): Promise<AnchorRow | undefined> {
  return anchorTable.get(store, node, batch, messageHash(message));
}
