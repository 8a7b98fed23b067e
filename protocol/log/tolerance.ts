import { majorityOf, neededWitnesses, type Roster } from './roster.ts';

/** What a federation stands, in members. */
export interface Tolerance {
  /** May be away while batches are still confirmed. */
  readonly awayForConfirmation: number;
  /** May be away while rosters and revocations still come into force. */
  readonly awayForChanges: number;
  /** Lie in vain: one more could make a wrong word verified. */
  readonly liarsInVain: number;
}

/**
 * What a federation of so many members stands with such a quorum (protocol §1): a wrong word needs as many Byzantine
 * members as the quorum, or a majority where that is fewer; a batch is confirmed by a quorum of members besides its
 * origin on a ledger that a majority reads; changes need a majority.
 */
export function toleranceOf({ members, quorum }: Pick<Roster, 'members' | 'quorum'>): Tolerance {
  const majority = majorityOf({ members });
  const awayForChanges = members.length - majority;
  return {
    awayForConfirmation: Math.min(members.length - 1 - quorum, awayForChanges),
    awayForChanges,
    liarsInVain: Math.min(neededWitnesses({ quorum }), majority) - 1,
  };
}
