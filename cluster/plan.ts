import { type NodeId, nodeId } from '../protocol/ids.ts';

/** The first port of the local cluster's hundred; every port below is an offset from it. */
export const DEFAULT_PORT_BASE = 4000;
const HTTP_OFFSET = 101;
const PEER_OFFSET = 201;
const LEDGER_OFFSETS = [301, 302, 303];
const MIRROR_GRPC_OFFSET = 304;
const MIRROR_OFFSET = 310;
const CHAIN_OFFSET = 320;
const SMTP_OFFSET = 330;
const METRICS_OFFSET = 401;

/** Witnesses besides the origin. */
export const QUORUM = 3;
/** A batch a second: a demonstration should not keep anyone waiting, and the local ledger costs nothing. */
export const BATCH_INTERVAL_SECONDS = 1;
export const LEDGER_READ_INTERVAL_SECONDS = 1;
/** The local ledger has one mirror, and its consensus nodes answer for nothing. */
export const LEDGER_SECOND_SOURCE_SECONDS = 0.2;
const FIRST_OPERATOR = 1001;
/** Accounts that no node of the plan has. */
const SPARE_ACCOUNTS = 1;

export interface PlannedNode {
  readonly id: NodeId;
  readonly region: string;
  readonly baseUrl: string;
  readonly httpPort: number;
  /** Where it shows its metrics. */
  readonly metricsPort: number;
  readonly peerAddress: string;
  /** Account that pays for the node's anchors. */
  readonly operatorId: string;
}

export interface Plan {
  readonly nodes: readonly PlannedNode[];
  /** Accounts that the ledger opens: those of the nodes, and one for a node that joins them. */
  readonly ledgerAccounts: readonly string[];
  readonly ledgerPorts: readonly number[];
  readonly mirrorGrpcPort: number;
  readonly mirrorPort: number;
  /** JSON-RPC of the local chain. */
  readonly chainPort: number;
  /** Of the mail sink. */
  readonly smtpPort: number;
}

const REGIONS: readonly (readonly [id: string, region: string])[] = [
  ['us', 'US/Virginia'],
  ['eu', 'EU/Frankfurt'],
  ['ca', 'CA/Toronto'],
  ['sg', 'SG/Singapore'],
  ['jp', 'JP/Tokyo'],
];

/** Who runs where in the local cluster. Everything listens on loopback. */
export function planCluster(portBase: number): Plan {
  return {
    nodes: REGIONS.map(([id, region], i) => ({
      id: nodeId(id),
      region,
      baseUrl: `http://127.0.0.1:${portBase + HTTP_OFFSET + i}`,
      httpPort: portBase + HTTP_OFFSET + i,
      metricsPort: portBase + METRICS_OFFSET + i,
      peerAddress: `/ip4/127.0.0.1/tcp/${portBase + PEER_OFFSET + i}`,
      operatorId: operatorOf(i),
    })),
    ledgerAccounts: Array.from({ length: REGIONS.length + SPARE_ACCOUNTS }, (_, i) => operatorOf(i)),
    ledgerPorts: LEDGER_OFFSETS.map((offset) => portBase + offset),
    mirrorGrpcPort: portBase + MIRROR_GRPC_OFFSET,
    mirrorPort: portBase + MIRROR_OFFSET,
    chainPort: portBase + CHAIN_OFFSET,
    smtpPort: portBase + SMTP_OFFSET,
  };
}

function operatorOf(place: number): string {
  return `0.0.${FIRST_OPERATOR + place}`;
}
