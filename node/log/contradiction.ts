import type { NodeId } from '../../protocol/ids.ts';
import { majorityOf, type Roster } from '../../protocol/log/roster.ts';
import type { CheckpointStore } from './checkpoint-store.ts';
import type { KnownCheckpoint } from './known-checkpoint.ts';

export interface Contradictions {
  /** Null for a reader from outside. */
  readonly self: NodeId | null;
  readonly checkpointStore: Pick<CheckpointStore, 'contradicted' | 'newest'>;
  /** The roster in force. */
  readonly roster: Pick<Roster, 'members'>;
  /** Whether no revocation takes the checkpoint along. */
  readonly stands: (known: KnownCheckpoint) => boolean;
}

/**
 * The other members whose word on the log contradicts this node's own tree, where they are a majority of the roster:
 * then it is this node that was fooled (protocol §3). None where they are fewer. Who has agreed with the own tree at a
 * later size speaks against it no more.
 */
export function contradictingMajority({ self, checkpointStore, roster, stands }: Contradictions): readonly NodeId[] {
  const names = new Set(roster.members.map(({ node }) => node));
  const speaking = checkpointStore.contradicted.filter((known) => {
    const { node, size } = known.checkpoint;
    const agreed = checkpointStore.newest(node)?.checkpoint.size ?? 0;
    return node !== self && names.has(node) && agreed < size && stands(known);
  });
  const nodes = [...new Set(speaking.map(({ checkpoint }) => checkpoint.node))];
  return nodes.length >= majorityOf(roster) ? nodes : [];
}

/**
 * The checkpoints that are shown as false. None while most members contradict the own tree: it may be this node that
 * was fooled, and then those that it contradicts are the true ones.
 */
export function shownFalse(
  checkpointStore: Pick<CheckpointStore, 'contradicted'>,
  contradictedBy: readonly NodeId[],
): readonly KnownCheckpoint[] {
  return contradictedBy.length > 0 ? [] : checkpointStore.contradicted;
}
