/** Where anchors of the local cluster stand. Not a Hedera network, and never called one. */
export const LEDGER_NAME = 'meridian-local';
export const LEDGER_DESCRIPTION = 'meridian-local: a development ledger, not a public network';

/** The release of the consensus node whose behaviour this follows. */
export const SOFTWARE_VERSION = '0.72.0';

/** One consensus node of the network. */
export interface NetworkNode {
  readonly account: bigint;
  readonly host: string;
  readonly port: number;
}
