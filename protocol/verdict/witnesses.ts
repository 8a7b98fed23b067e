import type { NodeId } from '../ids.ts';
import type { Checkpoint } from '../log/checkpoint.ts';
import { neededWitnesses } from '../log/roster.ts';
import type { Authority } from './authority.ts';
import type { PlacedDecision } from './placed-decision.ts';
import type { RosterPlace } from './roster-line.ts';

/** A decided batch, and whose it is. */
export interface DecidedBatch {
  readonly node: NodeId;
  readonly batch: number;
  readonly decision: PlacedDecision;
}

/** Members of one roster, other than the origin, that say a thing; as many as make it true there. */
export interface Quorum {
  readonly within: RosterPlace;
  readonly members: readonly NodeId[];
}

export interface Witnesses {
  /** Whose checkpoints cover the decision; null where they are too few. */
  readonly covering: Quorum | null;
  /** Whose checkpoints also vouch for the batch; null where they are too few. */
  readonly vouching: Quorum | null;
  /** Whether there would be enough that vouch were no key revoked: any node gives fresh checkpoints then. */
  readonly isStale: boolean;
}

/**
 * Counts the witnesses of a decided batch (protocol §5, §8): within one roster in force there or later, by its quorum.
 */
export function countWitnesses(authority: Authority, decided: DecidedBatch): Witnesses {
  const { counts } = authority.withdrawals;
  const vouches = ({ vouched }: Checkpoint) => (vouched[decided.node] ?? 0) >= decided.batch;
  const vouching = quorumOf(authority, decided, (checkpoint) => vouches(checkpoint) && counts(checkpoint));
  if (vouching !== null) return { covering: vouching, vouching, isStale: false };
  return {
    covering: quorumOf(authority, decided, counts),
    vouching: null,
    isStale: quorumOf(authority, decided, vouches) !== null,
  };
}

/**
 * Whether a quorum shows that the batch was decided, as if no key were revoked, or the verifier's own log has it so.
 */
export function isShownDecided(authority: Authority, decided: DecidedBatch): boolean {
  const { text, value } = decided.decision;
  if (authority.log?.decisionAt(value.index) === text) return true;
  return quorumOf(authority, decided, () => true) !== null;
}

function quorumOf(
  { line, checkpoints }: Authority,
  { node, decision }: DecidedBatch,
  accepts: (checkpoint: Checkpoint) => boolean,
): Quorum | null {
  const answers = checkpoints.covering(decision, accepts);
  for (const within of line.countedFor(decision.value.index)) {
    const { roster } = within;
    const except = roster.members.length === 1 ? null : node;
    const members = answers.settledBy({ roster, needed: neededWitnesses(roster), except });
    if (members.length > 0) return { within, members };
  }
  return null;
}
