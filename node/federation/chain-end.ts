import type { RosterChain } from '../../protocol/keys/roster-chain.ts';
import type { Envelope } from '../../protocol/statement/envelope.ts';
import type { LedgerView } from './ledger-view.ts';
import { PeerStatementError } from './peer-statement-error.ts';

/**
 * Where the chain of a node ends that was removed: a batch is taken only if the roster that it names has its node, and,
 * where a later roster dropped the node, if the ledger showed the batch before it showed that roster. So a removed node
 * cannot go on with the help of a member that passes its batches on, and every node comes to the same end.
 *
 * Throws `PeerStatementError`: `unknown-member` where a roster is missing here or the ledger has not spoken, `late` where
 * it has.
 */
export async function requireStanding(
  rosters: RosterChain,
  ledger: LedgerView,
  envelope: Envelope,
  text: string,
): Promise<void> {
  const { node, batch } = envelope;
  const named = rosters.version(envelope.roster);
  if (named === undefined) {
    throw new PeerStatementError('unknown-member', `batch ${node}/${batch} stands under an unknown roster`);
  }
  const names = ({ members }: typeof named) => members.some((member) => member.node === node);
  if (!names(named)) throw new PeerStatementError('late', `roster ${envelope.roster} does not name ${node}`);
  const dropping = rosters.rosters.findIndex((roster) => roster.version > envelope.roster && !names(roster));
  const dropped = rosters.signed[dropping];
  if (dropped === undefined) return;
  const anchor = await ledger.envelopeAnchor(envelope, text);
  const end = await ledger.statementAnchor({ type: 'roster', text: dropped.statement });
  if (anchor === undefined && end === undefined) {
    throw new PeerStatementError('unknown-member', `batch ${node}/${batch} of a removed node is not on the ledger yet`);
  }
  if (anchor === undefined || (end !== undefined && BigInt(anchor.sequence) > BigInt(end.sequence))) {
    throw new PeerStatementError('late', `batch ${node}/${batch} came after its node was removed`);
  }
}
