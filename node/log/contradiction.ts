import type { NodeId } from '../../protocol/ids.ts';
import { majorityOf, type Roster } from '../../protocol/log/roster.ts';
import type { CheckpointBook, KnownCheckpoint } from './checkpoint-book.ts';

export interface Contradictions {
  readonly self: NodeId;
  readonly book: Pick<CheckpointBook, 'contradicted' | 'newest'>;
  /** The roster in force. */
  readonly roster: Pick<Roster, 'members'>;
  /** Whether no revocation takes the checkpoint along. */
  readonly stands: (known: KnownCheckpoint) => boolean;
}

/**
 * The other members whose word on the log contradicts this node's own tree, where they are a majority of the roster: then it
 * is this node that was fooled (TRUST §3). None where they are fewer. Who has agreed with the own tree at a later size speaks
 * against it no more.
 */
export function contradictingMajority({ self, book, roster, stands }: Contradictions): readonly NodeId[] {
  const names = new Set(roster.members.map(({ node }) => node));
  const speaking = book.contradicted.filter((known) => {
    const { node, size } = known.checkpoint;
    const agreed = book.newest(node)?.checkpoint.size ?? 0;
    return node !== self && names.has(node) && agreed < size && stands(known);
  });
  return speaking.length >= majorityOf(roster) ? speaking.map(({ checkpoint }) => checkpoint.node) : [];
}
