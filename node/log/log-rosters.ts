import type { DecisionState } from '../../protocol/log/decision-state.ts';
import type { Roster } from '../../protocol/log/roster.ts';

/** A roster that the log put in force, and the decisions between which it was. */
export interface LogRoster {
  readonly roster: Roster;
  /** Place of the decision that put it in force; null for the genesis. */
  readonly from: number | null;
  /** Place of the decision that replaced it; null for the one in force. */
  readonly until: number | null;
}

/** The rosters that the log put in force, from the genesis on; `rosters` may lack the last ones. */
export function logRosters(
  state: Pick<DecisionState, 'rosters'>,
  { rosters }: { readonly rosters: readonly Roster[] },
): readonly LogRoster[] {
  return rosters.map((roster, i) => {
    return { roster, from: state.rosters[i]?.index ?? null, until: state.rosters[i + 1]?.index ?? null };
  });
}
