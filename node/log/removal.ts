import type { NodeId } from '../../protocol/ids.ts';
import type { Checkpoint } from '../../protocol/log/checkpoint.ts';
import type { DecisionState } from '../../protocol/log/decision-state.ts';
import { decisionText } from '../../protocol/log/decision.ts';
import { hasMember, majorityOf, type Roster } from '../../protocol/log/roster.ts';
import { type Timestamp, timestampOfConsensus } from '../../protocol/time.ts';
import type { CheckpointStore } from './checkpoint-store.ts';
import { type FederationLog, LogDamagedError } from './federation-log.ts';
import { type LogRoster, logRosters } from './log-rosters.ts';

/** Where a former member stands, as far as this node's own log tells. */
export interface Removal {
  /** Place of the decision that removed it. */
  readonly index: number;
  /** Whether it may stop (protocol §4). */
  readonly isReleased: boolean;
}

/** Place of the decision by which a node ceased to be a member; null while it is one, or where it never was. */
export function removalOf(rosters: readonly LogRoster[], node: NodeId): number | null {
  return rosters.findLast(({ roster }) => hasMember(roster, node))?.until ?? null;
}

export interface RemovalLog {
  readonly federationLog: Pick<FederationLog, 'entry'> & { readonly state: Pick<DecisionState, 'rosters'> };
  /** The rosters that the log put in force, from the genesis on. */
  readonly rosters: () => readonly Roster[];
}

/** Ledger time of the decision that removed a node; null while it is a member. Throws `LogDamagedError`. */
export async function removalTime({ federationLog, rosters }: RemovalLog, node: NodeId): Promise<Timestamp | null> {
  const index = removalOf(logRosters(federationLog.state, { rosters: rosters() }), node);
  if (index === null) return null;
  const entry = await federationLog.entry(index);
  if (entry === undefined) throw new LogDamagedError(`entry ${index} of the log is missing`);
  return timestampOfConsensus(decisionText.parse(entry).consensusTimestamp);
}

export interface Release {
  readonly self: NodeId;
  /** Place of the decision that removed it. */
  readonly removedAt: number;
  readonly checkpointStore: Pick<CheckpointStore, 'all' | 'newest'>;
  /** The roster in force. */
  readonly roster: Pick<Roster, 'members'>;
  /** Its last batch that it sealed, and the last that was decided. */
  readonly sealed: number;
  readonly decided: number;
  /** Its records that are in no batch. */
  readonly unsealed: number;
}

/**
 * Whether a removed member may stop (protocol §4): what it recorded is decided, and checkpoints of a majority of the
 * roster in force cover the removal, and vouch for its last batch and for all that its own last checkpoint does.
 */
export function isReleased({ self, removedAt, checkpointStore, roster, sealed, decided, unsealed }: Release): boolean {
  const own = checkpointStore.newest(self)?.checkpoint;
  if (own === undefined || own.size <= removedAt || decided < sealed || unsealed > 0) return false;
  const agreeing = checkpointStore.all().filter(({ checkpoint }) => {
    const covers = checkpoint.size > removedAt && (checkpoint.vouched[self] ?? 0) >= sealed;
    return covers && hasMember(roster, checkpoint.node) && vouchesAsMuch(checkpoint, own);
  });
  return agreeing.length >= majorityOf(roster);
}

function vouchesAsMuch({ vouched }: Checkpoint, own: Checkpoint): boolean {
  return Object.entries(own.vouched).every(([node, batch]) => (vouched[node] ?? 0) >= batch);
}
