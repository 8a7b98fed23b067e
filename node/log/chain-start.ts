import { hasMember, rosterStatement } from '../../protocol/log/roster.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { Timestamp } from '../../protocol/time.ts';
import { type FederationLog, LogDamagedError } from './federation-log.ts';

/**
 * When a node's chain may begin: the ledger time of the decision that admitted the node, or the `issuedAt` of the genesis
 * roster; null where no roster of the log names it. Throws `LogDamagedError`.
 */
export async function chainStart(
  log: Pick<FederationLog, 'rosterText' | 'state' | 'timeOf'>,
  node: NodeId,
): Promise<Timestamp | null> {
  for (const { hash, index } of log.state.rosters) {
    const text = await log.rosterText(hash);
    if (text === undefined) throw new LogDamagedError(`roster ${hash} of the log is missing`);
    const roster = rosterStatement.parse(text);
    if (!hasMember(roster, node)) continue;
    return index === null ? roster.issuedAt : log.timeOf(index);
  }
  return null;
}
