import type { StatementPublisher } from '../accounts/statements/statement-publisher.ts';
import type { Anchoring } from '../anchoring/anchoring.ts';
import type { AuditLog } from '../accounts/audit-log/audit-log.ts';
import type { Chains } from '../log/chains.ts';
import type { Equivocations } from '../federation/equivocations.ts';
import type { FederationSync } from '../federation/federation.ts';
import type { Transport } from '../transport/contract.ts';
import type { Intake } from '../intake/intake.ts';
import type { StorageGuard } from '../accounts/limits/storage-guard.ts';
import type { LogFollower } from '../federation/log-follower.ts';
import { logState, topicState } from '../log/log-view.ts';
import type { Vouching } from '../log/vouching.ts';
import type { Sealer } from '../intake/sealing/sealer.ts';
import type { Metrics } from './metrics.ts';

/** The parts of a node that its metrics are read from. */
export interface WatchedNode {
  readonly auditLog: Pick<AuditLog, 'waiting'>;
  readonly statements: Pick<StatementPublisher, 'held'>;
  readonly intake: Pick<Intake, 'queued' | 'recorded'>;
  readonly sealer: Pick<Sealer, 'waiting'>;
  readonly transport: Pick<Transport, 'peers'>;
  readonly chains: Chains;
  readonly equivocations: Equivocations;
  readonly federation: Pick<FederationSync, 'faults'>;
  readonly storageGuard: Pick<StorageGuard, 'state'>;
  readonly anchoring: Pick<Anchoring, 'state'>;
  readonly follower: LogFollower;
  readonly vouching: Vouching;
}

/** Connects a node's metrics with what they are read from at each scrape. */
export function watchNode(metrics: Metrics, node: WatchedNode): void {
  const { intake, sealer, transport, chains, equivocations, federation, storageGuard, auditLog, statements } = node;
  const { anchoring, follower, vouching } = node;
  metrics.watch({
    records: () => intake.recorded,
    queueDepth: () => intake.queued,
    unsealed: () => sealer.waiting,
    peersConnected: () => transport.peers().filter((peer) => peer.connected).length,
    heads: () => [...chains.all()].map(([member, head]) => [member, head.batch] as const),
    equivocations: () => equivocations.all().filter(({ stands }) => stands).length,
    peerFaults: () => federation.faults.all(),
    storage: () => storageGuard.state,
    auditWaiting: () => auditLog.waiting,
    statementsHeld: () => statements.held.size,
    anchoring: () => anchoring.state(),
    log: () => logState(follower, vouching),
    topic: () => topicState(follower),
    contradicted: () => follower.contradictedBy.length > 0,
    removal: () => follower.removal,
  });
}
