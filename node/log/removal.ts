import type { NodeId } from '../../protocol/ids.ts';
import type { Checkpoint } from '../../protocol/log/checkpoint.ts';
import { hasMember, majorityOf, type Roster } from '../../protocol/log/roster.ts';
import type { CheckpointBook } from './checkpoint-book.ts';
import type { LogRoster } from './log-rosters.ts';

/** Place of the decision by which a node ceased to be a member; null while it is one, or where it never was. */
export function removalOf(rosters: readonly LogRoster[], node: NodeId): number | null {
  return rosters.findLast(({ roster }) => hasMember(roster, node))?.until ?? null;
}

export interface Release {
  readonly self: NodeId;
  /** Place of the decision that removed it. */
  readonly removedAt: number;
  readonly book: Pick<CheckpointBook, 'all' | 'newest'>;
  /** The roster in force. */
  readonly roster: Pick<Roster, 'members'>;
  /** Its last batch that it sealed, and the last that was decided. */
  readonly sealed: number;
  readonly decided: number;
}

/**
 * Whether a removed member may stop (TRUST §4): what it recorded is decided, and checkpoints of a majority of the roster in
 * force cover the removal and vouch for all that its own last one does.
 */
export function isReleased({ self, removedAt, book, roster, sealed, decided }: Release): boolean {
  const own = book.newest(self)?.checkpoint;
  if (own === undefined || own.size <= removedAt || decided < sealed) return false;
  const agreeing = book.all().filter(({ checkpoint }) => {
    return hasMember(roster, checkpoint.node) && checkpoint.size > removedAt && vouchesAsMuch(checkpoint, own);
  });
  return agreeing.length >= majorityOf(roster);
}

function vouchesAsMuch({ vouched }: Checkpoint, own: Checkpoint): boolean {
  return Object.entries(own.vouched).every(([node, batch]) => (vouched[node] ?? 0) >= batch);
}
