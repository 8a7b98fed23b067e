import { join } from 'node:path';
import { TOY_LABEL } from '../../node/services/inference/config.ts';
import { addressOfKey, type ChainWallets } from '../chain/chain-wallets.ts';
import {
  BATCH_INTERVAL_SECONDS,
  LEDGER_READ_INTERVAL_SECONDS,
  LEDGER_SECOND_SOURCE_SECONDS,
  type Plan,
  type PlannedNode,
} from '../plan.ts';

const FIRST_LEDGER_ACCOUNT = 3;
/** Room for a batch every second all day: the local ledger's money is free. */
const ANCHORS_PER_DAY = 200_000;
const HBAR_PER_DAY = 10_000;
/** Sender of the nodes' mails; `.test` is nobody's (RFC 2606). */
const MAIL_FROM = 'no-reply@meridian.test';

/** The variables that make a node process one of the plan's. */
export function nodeVariables(
  node: PlannedNode,
  plan: Plan,
  home: string,
  roster: string,
  operatorKey: string,
): Record<string, string> {
  const nodes = Object.entries(ledgerNodes(plan)).map(([address, account]) => `${address}=${account}`);
  return {
    NODE_ID: node.id,
    NODE_HOME: home,
    ROSTER: roster,
    HTTP_PORT: String(node.httpPort),
    METRICS_LISTEN: `127.0.0.1:${node.metricsPort}`,
    PEER_LISTEN: node.peerAddress,
    BATCH_INTERVAL: String(BATCH_INTERVAL_SECONDS),
    PAYLOAD_RESIDENCY: 'federation',
    // The demo accounts live at one node and are used at all.
    FOREIGN_TIER: 'unmetered',
    LEDGER_NODES: nodes.join(','),
    LEDGER_MIRRORS: mirrorUrl(plan),
    LEDGER_OPERATOR_ID: node.operatorId,
    LEDGER_OPERATOR_KEY: operatorKey,
    LEDGER_READ_INTERVAL: String(LEDGER_READ_INTERVAL_SECONDS),
    LEDGER_SECOND_SOURCE: String(LEDGER_SECOND_SOURCE_SECONDS),
    LEDGER_QUERIES_PER_HOUR: String(ANCHORS_PER_DAY),
    LEDGER_MAX_PER_HOUR: String(ANCHORS_PER_DAY),
    LEDGER_MAX_PER_DAY: String(ANCHORS_PER_DAY),
    LEDGER_MAX_HBAR_PER_DAY: String(HBAR_PER_DAY),
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(plan.smtpPort),
    SMTP_TLS: 'none',
    SMTP_FROM: MAIL_FROM,
    MODEL_PATH: join(import.meta.dirname, '../model/labchat-0.9m-q8_0.gguf'),
    MODEL_LABEL: TOY_LABEL,
  };
}

/** The variables that let a node of the plan be paid on the local chain. */
export function paymentVariables(node: PlannedNode, plan: Plan, wallets: ChainWallets): Record<string, string> {
  const key = wallets.facilitators[node.id];
  if (key === undefined) throw new Error(`the chain has no facilitator for ${node.id}`);
  return { RPC_URL: chainUrl(plan), PAY_TO: addressOfKey(wallets.payTo), FACILITATOR_KEY: key };
}

/** `host:port` → account of the local ledger's consensus nodes. */
export function ledgerNodes({ ledgerPorts }: Plan): Record<string, string> {
  return Object.fromEntries(ledgerPorts.map((port, i) => [`127.0.0.1:${port}`, `0.0.${FIRST_LEDGER_ACCOUNT + i}`]));
}

/** Base URL of the local ledger's mirror. */
export function mirrorUrl({ mirrorPort }: Plan): string {
  return `http://127.0.0.1:${mirrorPort}`;
}

/** JSON-RPC of the local chain. */
export function chainUrl({ chainPort }: Plan): string {
  return `http://127.0.0.1:${chainPort}`;
}
