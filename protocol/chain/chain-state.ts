import Type, { type Static } from 'typebox';
import type { Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { Closed, CountShape, NodeIdShape, OrdinalShape, OrNull, Sha256Shape, TimestampShape } from '../shapes.ts';
import type { Timestamp } from '../time.ts';
import type { Envelope } from './envelope.ts';

/** How far `from` may lie before what came before, in milliseconds (protocol §6). */
export const FROM_TOLERANCE_MS = 5 * 60 * 1000;

/** Where a node's chain stands after its last derived batch: all that the next envelope must go on from. */
export const ChainStateShape = Closed({
  v: Type.Literal(1),
  node: NodeIdShape,
  /** Last batch; 0 before the first. */
  batch: CountShape,
  /** `seq` of the record that comes next. */
  next: OrdinalShape,
  /** Hash of the last envelope; null before the first. */
  prev: OrNull(Sha256Shape),
  /**
   * The earlier of the `sealedAt` and the ledger time of the last batch, its `sealedAt` alone while it is not decided;
   * before the first batch, the ledger time of the decision that admitted the node, or the `issuedAt` of the genesis.
   */
  since: TimestampShape,
});
export type ChainState = Static<typeof ChainStateShape>;

/** The state of a chain before its first batch. `since`: see `ChainState`. */
export function startOfChain(node: NodeId, since: Timestamp): ChainState {
  return { v: 1, node, batch: 0, next: 1, prev: null, since };
}

/**
 * The state after a batch. `ledgerTime` is that of its decision, cut to milliseconds; null where it is not decided yet:
 * a node that seals on meanwhile is then held to the stricter of the two times.
 */
export function stateAfter(
  envelope: Pick<Envelope, 'batch' | 'first' | 'node' | 'sealedAt' | 'size'>,
  hash: Sha256Hash,
  ledgerTime: Timestamp | null,
): ChainState {
  const { node, batch, first, size, sealedAt } = envelope;
  const since = ledgerTime !== null && ledgerTime < sealedAt ? ledgerTime : sealedAt;
  return { v: 1, node, batch, next: first + size, prev: hash, since };
}

/** The least `from` of the next envelope, in epoch milliseconds. */
export function leastFrom({ since }: Pick<ChainState, 'since'>): number {
  return Date.parse(since) - FROM_TOLERANCE_MS;
}
