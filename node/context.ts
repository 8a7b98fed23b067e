import { join } from 'node:path';
import type { Logger } from 'pino';
import { knownNode } from '../protocol/log/decision-state.ts';
import { type AccountServices, openAccountServices } from './accounts/account-services.ts';
import { tellCopiedKeys } from './accounts/copied-keys.ts';
import { type AlertServices, openAlertServices } from './alerts/alert-services.ts';
import { Refusals } from './accounts/limits/refusals.ts';
import { StorageGuard } from './accounts/limits/storage-guard.ts';
import { type Anchoring, openAnchoring } from './anchoring/anchoring.ts';
import { rosterLedger } from './anchoring/ledger/config.ts';
import { CertificateThread } from './certificates/certificate-thread.ts';
import { type NodeConfig, VERSION } from './config/config.ts';
import { Equivocations } from './federation/equivocations.ts';
import { dropTree } from './federation/reread.ts';
import { NodeStart, StartMarks } from './federation/start/node-start.ts';
import { readRestorations } from './federation/start/restoration-table.ts';
import { openNodeStore } from './fsck/migration/migrate-store.ts';
import { type AgentServices, openAgentServices } from './governance/agents/agent-services.ts';
import { type GovernanceServices, openGovernanceServices } from './governance/governance-services.ts';
import { Idempotency } from './intake/idempotency.ts';
import { Intake } from './intake/intake.ts';
import { openPreparingThreads } from './intake/preparing-threads.ts';
import { Sealer } from './intake/sealing/sealer.ts';
import { Chains } from './log/chains.ts';
import type { CheckpointStore } from './log/checkpoint-store.ts';
import { decidedBatch } from './log/decided-batches.ts';
import { FederationLog } from './log/federation-log.ts';
import { FederationKeys } from './log/members/federation-keys.ts';
import { openGivenRosters, readRosterFile } from './log/members/given-rosters.ts';
import type { OwnKeys } from './log/members/own-keys.ts';
import { chainStart } from './log/vouching.ts';
import { Metrics } from './metrics/metrics.ts';
import { watchNode } from './metrics/watch-node.ts';
import { openPackServices, type PackServices } from './packs/pack-services.ts';
import { openPaymentMeans, openPaymentServices, type PaymentServices } from './payments/payment-services.ts';
import { PayloadCipher } from './records/payload/payload-cipher.ts';
import { RecordLists } from './records/sources/record-page.ts';
import { type ListServices, openListServices } from './screening/lists/list-services.ts';
import { openInference } from './services/inference/inference-services.ts';
import type { Inference } from './services/inference/inference.ts';
import { type LedgerServices, openLedgerServices } from './services/ledger-services.ts';
import { OWN_PROJECTIONS } from './services/projections.ts';
import { openRegwatchServices, type RegwatchServices } from './services/regulatory-feed/regwatch-services.ts';
import { DuePurges } from './store/due-purges.ts';
import type { Store } from './store/store.ts';
import { Pages } from './pages/pages.ts';
import { Confirmations, ConfirmationWatch } from './verification/attestation/confirmation-watch.ts';
import { openVerificationServices, type VerificationServices } from './verification/verification-services.ts';
import { type FederationServices, openFederationServices } from './wiring/federation-services.ts';
import { type ForeignServices, openForeignServices, openStatementFollower } from './wiring/foreign-account-services.ts';
import { openOwnKeys, openSecrets, openSigningKey } from './wiring/key-services.ts';
import { Connections } from './wiring/connections.ts';
import type { Overrides } from './wiring/overrides.ts';
import { Parts } from './wiring/parts.ts';

/**
 * Every part of a node, made and connected: the only file that knows them all. Disposing it ends them in the reverse
 * order.
 */
export interface NodeContext
  extends
    AccountServices,
    AgentServices,
    FederationServices,
    ForeignServices,
    ListServices,
    LedgerServices,
    PackServices,
    AlertServices,
    PaymentServices,
    RegwatchServices,
    VerificationServices {
  readonly config: NodeConfig;
  readonly log: Logger;
  readonly now: () => number;
  /** Whether the clock is known to be right: nothing is closed or ended for good by another. */
  readonly isClockRight: () => boolean;
  readonly store: Store;
  readonly purges: DuePurges;
  readonly keys: FederationKeys;
  readonly intake: Intake;
  readonly idempotency: Idempotency;
  readonly governance: GovernanceServices;
  readonly sealer: Sealer;
  readonly anchoring: Anchoring;
  /** Public address of this node as the roster in force has it, without a slash at its end. */
  readonly baseUrl: () => string;
  readonly chains: Chains;
  readonly equivocations: Equivocations;
  readonly federationLog: FederationLog;
  readonly checkpointStore: CheckpointStore;
  readonly ownKeys: OwnKeys;
  /** How this node comes to sign. */
  readonly start: NodeStart;
  readonly confirmations: Confirmations;
  /** Makes the certificates of records. */
  readonly certificates: CertificateThread;
  /** Whether there is storage for more records. */
  readonly storageGuard: StorageGuard;
  readonly metrics: Metrics;
  readonly refusals: Refusals;
  readonly inference: Inference;
  /** What people read in a browser. */
  readonly pages: Pages;
}

/** Opens everything in the node's home. Starts nothing: no port listens and no loop runs until the app says so. */
export async function openContext(config: NodeConfig, log: Logger, overrides: Overrides = {}): Promise<NodeContext> {
  const { now = Date.now, random = Math.random } = overrides;
  await using opening = new AsyncDisposableStack();
  const own = await openSecrets(config, log);
  const store = opening.use(await openNodeStore(config.home, { gate: overrides.gate, node: config.id, log }));
  await dropTree(store, config.id);
  const marks = opening.use(await StartMarks.open(store, config.id));
  const purges = opening.use(new DuePurges(store, log));
  const given = await openGivenRosters(store, await readRosterFile(config.rosterFile));
  const federationLog = await FederationLog.open(store, given.signedGenesis.statement);
  const keys = await FederationKeys.open(store, federationLog, given);
  const self = config.id;
  const signing = openSigningKey(config, own, keys);

  const ledger = rosterLedger(config, keys.rosters.lastWith(self) ?? keys.rosters.current);
  const chains = await Chains.open(store, keys.rosters.nodes);
  const cipher = new PayloadCipher(own.payloadKey);
  const metrics = new Metrics(self);
  const refusals = opening.use(new Refusals({ count: metrics.countRefused.bind(metrics), log }));
  const confirmations = new Confirmations();
  const parts = new Parts();
  const isClockRight = () => parts.find('follower')?.clocks.isRight === true;
  const { operatorId } = config.ledger;
  const connections = new Connections({
    parts,
    self,
    operatorId,
    federationLog,
    chains,
    metrics,
    refusals,
    now,
    log,
  });
  const baseUrl = () => keys.rosters.member(self)?.baseUrl ?? '';
  const nodeUrl = () => `${baseUrl()}/verify`;
  const storageGuard = opening.use(
    await StorageGuard.start({ directory: store.directory, quotaBytes: config.storageQuotaBytes, log }),
  );
  const { foreign, versions } = openForeignServices({ config, store, federationLog, chains, log });
  const copy = (await readRestorations(store, self)).at(-1);
  if (copy?.settled === null) await tellCopiedKeys(store, copy.takenAt, { now, log });
  const callers = {
    node: self,
    foreign,
    federationLog,
    baseUrl,
    nodeUrl,
    ...connections.accounts(),
    payloadKey: own.payloadKey,
    copiedAt: copy?.takenAt ?? null,
  };
  const people = opening.use(
    await openAccountServices({ ...overrides, ...callers, store, now, isClockRight, random, log, config }),
  );
  const governance = await openGovernanceServices({
    ...people,
    store,
    node: self,
    payloadKey: own.payloadKey,
    cipher,
    purges,
    now,
    log,
    verification: () => parts.get('verification'),
  });
  const ledgerless = { store, keys, chains, now, log };

  const anchoring = opening.use(
    await openAnchoring({
      ...ledgerless,
      node: self,
      federation: keys.rosters.genesis,
      config: ledger,
      ...connections.anchoring(),
      random,
    }),
  );
  parts.add({ anchoring });
  const equivocations = await Equivocations.open(store, keys, (pair) =>
    parts.get('verification').misdeeds.wordOf(pair),
  );
  const services = { ...ledgerless, equivocations };
  const membership = opening.use(
    await openFederationServices({
      ...services,
      config,
      ledger,
      own,
      signing,
      federationLog,
      anchoring,
      people,
      governance,
      parts,
      connections,
      overrides,
      random,
    }),
  );
  const { transport, federation, follower } = membership;
  const sealer = opening.use(
    await Sealer.open({
      ...services,
      node: self,
      ...signing.terms(now),
      chainStart: () => chainStart(federationLog, self),
      decisionOf: (batch) => decidedBatch(federationLog, self, batch),
      publicKeyOf: (keyId, first) => keys.publicKeyOf(self, keyId, first),
      ...(overrides.sealsAhead === true ? {} : { named: knownNode(federationLog.state, self)?.last?.batch ?? 0 }),
      intervalMs: config.batchIntervalMs,
      maxRecords: config.batchMaxRecords,
      ...connections.sealer(),
    }),
  );
  parts.add({ sealer });
  const recordClock = signing.terms(overrides.recordClock ?? now).now;
  const intake = opening.use(
    await Intake.open({
      threads: opening.use(openPreparingThreads(config.intakeThreads, own.payloadKey)),
      ...services,
      node: self,
      ...signing.terms(now),
      cipher,
      projections: OWN_PROJECTIONS,
      counters: governance.counters,
      ...connections.intake(recordClock),
    }),
  );
  parts.add({ intake });
  const money = await openPaymentServices({
    ...services,
    isClockRight,
    node: self,
    payloadKey: own.payloadKey,
    intake,
    means: overrides.payments ?? openPaymentMeans(config, log),
  });
  opening.use(money.paymentService);
  const ownKeys = opening.use(
    openOwnKeys({ ...services, config, own, signing, sealer, anchoring, federation, follower }),
  );
  const regwatch = await openRegwatchServices({ ...overrides, ...services, intake, config, storageGuard });
  opening.use(regwatch.regSources);
  const inference = opening.use(openInference(config.inference, log));
  const lists = opening.use(openListServices({ ...services, config, intake }));
  const start = new NodeStart({
    ...overrides,
    ...services,
    ...membership,
    self,
    marks,
    anchoring,
    intake,
    sealer,
    ownKeys,
    isAlone: config.startsAlone,
    isUnread: overrides.startsUnread === true,
  });
  parts.add({ start });

  const verification = opening.use(
    openVerificationServices({ ...services, config, transport, anchoring, follower, cipher, refusals }),
  );
  parts.add({ verification });
  const following = { ...services, ...people, ...verification, self, versions, transport, federation, random };
  const foreignStatements = opening.use(await openStatementFollower(following));
  parts.add({ foreignStatements });
  const confirmationWatch = opening.use(new ConfirmationWatch({ ...verification, self, store, confirmations, log }));
  parts.add({ confirmationWatch });
  const ledgerServices = opening.use(
    openLedgerServices({ ...services, ...governance, ...verification, config, ledger, random }),
  );
  const certificates = opening.use(new CertificateThread());
  const { packs, packThread } = openPackServices({
    ...services,
    isClockRight,
    ...people,
    ...verification,
    ...signing.terms(now),
    self,
    folder: join(config.home, 'packs'),
    version: VERSION,
    quotaBytes: config.packsQuotaBytes,
    federationLog,
    checkpointStore: follower.checkpointStore,
    cipher,
    intake,
  });
  parts.add({ packs });
  opening.use(packThread);
  const alertServices = await openAlertServices({
    ...overrides,
    ...services,
    isClockRight,
    ...people,
    ...governance,
    ...verification,
    ...lists,
    keys: people.accounts.keys,
    recordLists: new RecordLists(store, self),
    nodeUrl,
    accountStore: people.accounts.accountStore,
    copiedAt: callers.copiedAt,
    node: self,
    payloadKey: own.payloadKey,
    reach: config.webhookReach,
    random,
  });
  watchNode(metrics, {
    ...services,
    ...people,
    intake,
    sealer,
    ...membership,
    anchoring,
    storageGuard,
  });
  const idempotency = opening.use(new Idempotency({ ...services, isClockRight, payloadKey: own.payloadKey }));
  const agentServices = openAgentServices({ store, node: self, payloadKey: own.payloadKey, cipher, purges });
  parts.add({ agents: agentServices.agents });
  const opened = opening.move();
  return {
    config,
    log,
    now,
    isClockRight,
    store,
    purges,
    keys,
    ...people,
    ...agentServices,
    intake,
    foreign,
    foreignStatements,
    idempotency,
    governance,
    sealer,
    anchoring,
    baseUrl,
    chains,
    equivocations,
    ...membership,
    federationLog,
    checkpointStore: follower.checkpointStore,
    ownKeys,
    start,
    confirmations,
    certificates,
    packs,
    packThread,
    ...alertServices,
    storageGuard,
    metrics,
    refusals,
    inference,
    pages: new Pages(join(config.home, 'pages'), log),
    ...lists,
    ...money,
    ...regwatch,
    ...verification,
    ...ledgerServices,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
