import Type, { type Static } from 'typebox';
import type { NodeId } from '../../../protocol/ids.ts';
import { Closed, CountShape, NodeIdShape, OrdinalShape, TimestampShape } from '../../../protocol/shapes.ts';
import type { Rows } from '../../store/store.ts';
import { jsonTable } from '../../store/table.ts';

/** Where a node's own chain ended: its last batch, and the first record that is in none. */
export const ChainEndShape = Closed({ batch: CountShape, next: OrdinalShape });
export type OwnChainEnd = Static<typeof ChainEndShape>;

const SettledShape = Closed({
  at: TimestampShape,
  /** What the chain turned out to be. */
  end: ChainEndShape,
  /** When its last batch was sealed: whatever was acknowledged after it and not sealed is lost. */
  sealedAt: Type.Union([TimestampShape, Type.Null()]),
  /** Peers that said how far they hold it. */
  peers: Type.Array(NodeIdShape),
  /** Sequence number up to which the ledger's topic was read. */
  sequence: Type.String(),
});

const RestorationShape = Closed({
  takenAt: TimestampShape,
  /** The copy's own end. */
  held: ChainEndShape,
  /** Records of the copy that were in no batch yet. */
  unsealed: CountShape,
  /** Null until the node has learned how far its chain goes; it signs nothing before. */
  settled: Type.Union([SettledShape, Type.Null()]),
});
export type Restoration = Static<typeof RestorationShape>;
export const RestorationsShape = Type.Array(RestorationShape);

/**
 * (node, time of the copy) → what became of a copy of the store. Every copy carries such a row from its first write on,
 * so that anyone who opens it, however it got there, knows that it is an old one. A store that was never copied has
 * none.
 */
export const restorationTable = jsonTable('restoration', RestorationShape);

/** All of a node's restorations, the oldest first. They are few: each is an operator's doing. */
export async function readRestorations(store: Rows, node: NodeId): Promise<Restoration[]> {
  const all: Restoration[] = [];
  for await (const [, row] of restorationTable.under(store, [node])) all.push(row);
  return all;
}
