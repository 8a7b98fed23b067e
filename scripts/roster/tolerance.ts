import type { Roster } from '../../protocol/log/roster.ts';
import { toleranceOf } from '../../protocol/log/tolerance.ts';

const HEADER = ['quorum', 'away for confirmation', 'away for changes', 'liars in vain'] as const;

/** What these members stand with each quorum that they may choose: one a line, the roster's own marked. */
export function toleranceText({ members, quorum }: Pick<Roster, 'members' | 'quorum'>): string {
  const quorums = members.length === 1 ? [0] : members.slice(1).map((_, i) => i + 1);
  const rows = quorums.map((each) => {
    const { awayForConfirmation, awayForChanges, liarsInVain } = toleranceOf({ members, quorum: each });
    const cells = [`${each === quorum ? '* ' : ''}${each}`, awayForConfirmation, awayForChanges, liarsInVain];
    return lineOf(cells.map(String));
  });
  return [`what a federation of ${members.length} stands, in members:`, lineOf(HEADER), ...rows].join('\n');
}

function lineOf(cells: readonly string[]): string {
  return cells.map((cell, i) => cell.padStart(HEADER[i]?.length ?? 0)).join('  ');
}
