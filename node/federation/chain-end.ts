import type { RosterChain } from '../../protocol/keys/roster-chain.ts';
import type { Envelope } from '../../protocol/chain/envelope.ts';
import type { LedgerView } from './ledger-view.ts';
import { PeerStatementError } from './peer-statement-error.ts';

/**
 * Where the chain of a node ends that was removed: a batch is taken only if the ledger showed it before it showed the
 * roster that dropped the node. So a removed node cannot go on with the help of a member that passes its batches on, and
 * every node comes to the same end.
 *
 * Throws `PeerStatementError`: `unknown-member` where no roster here names the node or the ledger has not spoken, `late`
 * where it has.
 */
export async function requireStanding(
  rosters: RosterChain,
  ledger: LedgerView,
  envelope: Envelope,
  text: string,
): Promise<void> {
  const { node, batch } = envelope;
  const last = rosters.lastWith(node);
  if (last === undefined) throw new PeerStatementError('unknown-member', `no roster known names ${node}`);
  // Versions count from 1, so this is the place of the roster after it.
  const dropped = rosters.texts[last.version];
  if (dropped === undefined) return;
  const anchor = await ledger.envelopeAnchor(envelope, text);
  const end = await ledger.statementAnchor({ type: 'roster', text: dropped });
  if (anchor === undefined && end === undefined) {
    throw new PeerStatementError('unknown-member', `batch ${node}/${batch} of a removed node is not on the ledger yet`);
  }
  if (anchor === undefined || (end !== undefined && BigInt(anchor.sequence) > BigInt(end.sequence))) {
    throw new PeerStatementError('late', `batch ${node}/${batch} came after its node was removed`);
  }
}
