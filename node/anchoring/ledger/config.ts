import type { EntityId } from '../../../protocol/ids.ts';
import type { SpendLimits } from './spend-guard.ts';

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
  /** How long a transaction may wait for consensus, in seconds, 15 to 180. */
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
