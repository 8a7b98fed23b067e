import type { EntityId, NodeId } from '../../../protocol/ids.ts';
import type { Roster } from '../../../protocol/log/roster.ts';
import type { SpendLimits } from './spend-guard.ts';

/**
 * How long a transaction may wait for consensus, in seconds. The least is the ledger's bound; the most is below its 180,
 * as a start that waits three minutes counts on nothing from before it being valid by then. Used where nothing is set:
 * the network's own default.
 */
export const VALID_SECONDS = { least: 15, most: 120, otherwise: 120 } as const;

/** What the operator says of the ledger cannot be used, or does not go with the roster. */
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

/** The ledger that a node anchors on. A network is chosen by configuration alone; no code differs between networks. */
export interface AnchoringConfig {
  /** `mainnet`, `testnet`, `previewnet`, or the name of a private network, which then needs `nodes`. No `/` in it. */
  readonly network: string;
  /** Consensus nodes, `host:port` → account. Left out: the SDK's list for a public network. */
  readonly nodes?: Readonly<Record<string, EntityId>>;
  /** Base URLs of mirror REST APIs, without `/api/v1`. With several, one that lies or is down is passed over. */
  readonly mirrors: readonly string[];
  readonly topicId: EntityId;
  /** Account that pays. */
  readonly operatorId: EntityId;
  /** Its key: a 32-byte Ed25519 seed in hex, or an Ed25519 or ECDSA private key in DER hex. */
  readonly operatorKey: string;
  /** Key that the topic asks of its writers, in the same forms. Left out: the topic has none, or the operator's. */
  readonly submitKey?: string;
  /** How long a transaction may wait for consensus, in seconds, within `VALID_SECONDS`. */
  readonly validSeconds?: number;
  /** Pause between two readings of the topic when nothing of ours is under way, in milliseconds. */
  readonly readIntervalMs?: number;
  readonly spend?: Partial<SpendLimits>;
  /** How long something waits for a second source before consensus nodes are asked, in milliseconds. */
  readonly secondSourceMs?: number;
  /** Paid queries to consensus nodes an hour at most. */
  readonly queriesPerHour?: number;
}

/** Public mirrors of the public networks. */
export const PUBLIC_MIRRORS: Readonly<Record<string, string>> = {
  mainnet: 'https://mainnet.mirrornode.hedera.com',
  testnet: 'https://testnet.mirrornode.hedera.com',
  previewnet: 'https://previewnet.mirrornode.hedera.com',
};
