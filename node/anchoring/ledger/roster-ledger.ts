import type { NodeId } from '../../../protocol/ids.ts';
import type { Roster } from '../../../protocol/log/roster.ts';
import { type AnchoringConfig, PUBLIC_MIRRORS } from './config.ts';

export class LedgerConfigError extends Error {
  override readonly name = 'LedgerConfigError';
}

/** What the operator of a node says of the ledger. */
interface LedgerSettings {
  readonly id: NodeId;
  readonly ledger: Omit<AnchoringConfig, 'network' | 'topicId'>;
  readonly production: boolean;
}

/**
 * The ledger that a node anchors on: the roster names network and topic; the operator's configuration says how to reach
 * them and who pays. Throws `LedgerConfigError` where the two do not go together: what another account paid for is not
 * this node's word.
 */
export function rosterLedger(
  { id, ledger, production }: LedgerSettings,
  roster: Pick<Roster, 'ledger' | 'members'>,
): AnchoringConfig {
  requireOwnAccount(id, ledger, roster);
  const { network, topicId } = roster.ledger;
  const publicMirror = PUBLIC_MIRRORS[network];
  if (production && publicMirror === undefined) {
    throw new LedgerConfigError(`${network} is no public ledger; NODE_ENV=production refuses it`);
  }
  if (publicMirror === undefined && (ledger.mirrors.length === 0 || ledger.nodes === undefined)) {
    throw new LedgerConfigError(`the ledger ${network} needs LEDGER_NODES and LEDGER_MIRRORS`);
  }
  const mirrors = ledger.mirrors.length === 0 && publicMirror !== undefined ? [publicMirror] : ledger.mirrors;
  return { ...ledger, mirrors, network, topicId };
}

function requireOwnAccount(
  id: NodeId,
  { operatorId }: LedgerSettings['ledger'],
  { members }: Pick<Roster, 'members'>,
): void {
  const accounts = members.find(({ node }) => node === id)?.accounts ?? [];
  if (accounts.includes(operatorId)) return;
  const named = accounts.length === 0 ? 'none' : accounts.join(', ');
  throw new LedgerConfigError(`LEDGER_OPERATOR_ID ${operatorId} is no account of ${id}: the roster names ${named}`);
}
