import type { Context } from 'koa';
import type { NodeId, RecordId } from '../protocol/ids.ts';
import { BATCH_SERVICES } from '../protocol/payments/prices.ts';
import { timestampOf } from '../protocol/time.ts';
import { KeyRefusals } from './accounts/elsewhere/key-refusals.ts';
import { VERSION } from './config/config.ts';
import type { NodeContext } from './context.ts';
import { AgentHistory } from './governance/agents/agent-history.ts';
import { callerAddress } from './http/authentication.ts';
import { agentRecordRoute } from './http/paid/agent-record.ts';
import { attestedInferenceRoute } from './http/paid/attested-inference.ts';
import { screeningRoute } from './http/paid/attested-screening.ts';
import type { VerifyUrl } from './http/paid/attested-summary.ts';
import { batchRoute } from './http/paid/batches.ts';
import { counterpartyRoute } from './http/paid/check-counterparty.ts';
import { factRoutes } from './http/paid/facts.ts';
import { regwatchFeedRoute } from './http/paid/regwatch-feed.ts';
import { paidTieredAttestRoute } from './http/paid/tiered-attest.ts';
import { verifyAuditRoute } from './http/paid/verify-audit.ts';
import { walletRecordRoute } from './http/paid/wallet-record.ts';
import type { Recorder } from './http/recording/recording.ts';
import { openApiDocument } from './http/openapi/document.ts';
import type { OperatorRoute, PageRoute, Route } from './http/route.ts';
import { accountRoutes } from './http/routes/account.ts';
import { agentRoutes } from './http/routes/agents.ts';
import { attestRoute, type DecisionServices, tieredAttestRoute } from './http/routes/attest.ts';
import { auditExportRoute, auditLogRoute } from './http/routes/audit-log.ts';
import { bundleRoute, proofRoute, verifyBundleRoute } from './http/routes/bundles.ts';
import { calendarRoutes } from './http/routes/calendar.ts';
import { certificateRoute } from './http/routes/certificates.ts';
import { type DiscoveryOptions, discoveryRoutes } from './http/routes/discovery.ts';
import { packRoutes } from './http/routes/evidence-packs.ts';
import { federationRoute, type FederationSources } from './http/routes/federation.ts';
import { frameworkRoute, frameworksRoute } from './http/routes/frameworks.ts';
import { templateRoute } from './http/routes/templates.ts';
import { gapReportRoute } from './http/routes/gap-report.ts';
import { governanceRoutes } from './http/routes/governance.ts';
import { oversightRoutes } from './http/routes/oversight.ts';
import { overviewRoute } from './http/routes/overview.ts';
import { healthRoute } from './http/routes/health.ts';
import { keyRoutes } from './http/routes/keys.ts';
import { pageRoutes } from './http/pages/pages.ts';
import { listRoutes } from './http/routes/lists.ts';
import { logRoutes } from './http/routes/log.ts';
import { lostKeyRoutes } from './http/routes/lost-key.ts';
import { openApiRoute } from './http/routes/openapi.ts';
import { secondFactorRoutes } from './http/routes/second-factors.ts';
import { peopleRoutes } from './http/routes/people.ts';
import { problemRoute } from './http/routes/problems.ts';
import { publicRecordRoutes } from './http/routes/public-record.ts';
import { shareRoutes } from './http/routes/shares.ts';
import { signInRoutes } from './http/routes/sign-ins.ts';
import { signUpRoute } from './http/routes/sign-up.ts';
import { statusRoute } from './http/routes/status.ts';
import { tieredAttestBatchRoute } from './http/routes/tiered-attest-batch.ts';
import { mailAlertRoutes } from './http/routes/mail-alerts.ts';
import { webhookRoutes } from './http/routes/webhooks.ts';
import { usageRoute } from './http/routes/usage.ts';
import { verifyRoute } from './http/routes/verify.ts';
import { logHealth } from './log/log-view.ts';
import type { HealthMonitor } from './metrics/health-monitor.ts';
import { operatorAccountRoutes } from './operator/account-routes.ts';
import { backupRoutes } from './operator/backup-routes.ts';
import { operatorListRoutes } from './operator/list-routes.ts';
import { regwatchRoutes } from './operator/regwatch-routes.ts';
import { operatorOverviewRoute } from './operator/overview-routes.ts';
import { rosterRoutes } from './operator/roster-routes.ts';
import { screeningRoutes } from './operator/screening-routes.ts';
import { signingKeyRoutes } from './operator/signing-key-routes.ts';
import { readRecordsFrom, requireRecord } from './records/record-reader.ts';
import { waitForConfirmation } from './verification/attestation/confirmation-watch.ts';

/** Every endpoint of the public API. */
export function apiRoutes(context: NodeContext, monitor: HealthMonitor): readonly Route[] {
  const { config, keys, verifier, now, view, evidence, log } = context;
  const { baseUrl } = context;
  const { topicId } = keys.rosters.current.ledger;
  const region = () => keys.rosters.member(config.id)?.region ?? config.id;
  const placeOf = (node: NodeId) => keys.rosters.member(node)?.baseUrl;
  const recorder = recorderOf(context, topicId);
  const decisions: DecisionServices = {
    recorder,
    ...context.governance,
    agents: context.agentSigning,
    now,
    sealNow: () => context.sealer.seal(),
  };
  const addressOf = ({ req }: Context) => callerAddress(req, config.http.trustedProxies);
  const routes = [
    attestRoute(decisions),
    tieredAttestRoute(decisions),
    tieredAttestBatchRoute(decisions),
    statusRoute({ evidence, view, topic: topicId, now }),
    verifyRoute({ verifier, topic: topicId, now, log }),
    bundleRoute({ ...context, self: config.id, addressOf: placeOf, now }),
    proofRoute(context),
    certificateRoute({ ...context, self: config.id }),
    verifyBundleRoute({ verifier, now }),
    ...shareRoutes({
      ...context,
      self: config.id,
      addressOf: placeOf,
      clientOf: addressOf,
      baseUrl,
      now,
      requireStorage: () => context.storageGuard.requireCapacity(),
    }),
    healthRoute({
      region,
      node: config.id,
      version: VERSION,
      now,
      health: () => monitor.health,
      log: () => logHealth(context.follower),
    }),
    federationRoute(federationSourcesOf(context)),
    ...publicRecordRoutes(context),
    ...logRoutes(context),
    frameworksRoute(),
    frameworkRoute(),
    templateRoute({ ...context.governance, node: context.config.id, now }),
    gapReportRoute({ ...context.governance, store: context.store, node: context.config.id, now }),
    auditLogRoute(context.store),
    auditExportRoute(context.store),
    ...packRoutes({
      ...context,
      ...context.governance,
      self: config.id,
      addressOf: placeOf,
      now,
      requireStorage: () => context.storageGuard.requireCapacity(),
    }),
    ...agentRoutes({ recorder, agents: context.agents, baseUrl }),
    ...listRoutes({ ...context, ...context.governance, node: config.id }),
    usageRoute({ ...context, node: config.id }),
    overviewRoute({
      ...context,
      ...context.governance,
      node: config.id,
      keys: context.accounts.keys,
      ledger: () => monitor.health.ledger,
    }),
    ...governanceRoutes({ ...context.governance, store: context.store, node: config.id, recorder, now }),
    ...accountRoutes({ ...context, addressOf: placeOf }),
    ...signInRoutes(context.signIns),
    ...secondFactorRoutes(context.secondFactors),
    ...peopleRoutes({ people: context.people, addressOf: placeOf }),
    ...webhookRoutes({ ...context, addressOf: placeOf }),
    ...oversightRoutes({ ...context.governance, addressOf: placeOf }),
    ...mailAlertRoutes({ ...context, addressOf: placeOf }),
    ...calendarRoutes({ ...context, addressOf: placeOf }),
    ...keyRoutes({ keys: context.accounts.keys, refusals: keyRefusalsOf(context), addressOf: placeOf, now }),
    ...paidRoutes(context),
    signUpRoute({ signUp: context.signUp, addressOf }),
    ...lostKeyRoutes({ lostKeys: context.lostKeys, addressOf, now }),
  ];
  const told = [...routes, problemRoute(context.pages)];
  return withDocuments(told, { baseUrl, payTo: context.paymentService?.payTo ?? null, since: timestampOf(now()) });
}

/** What people read in a browser: of `routes`, the public API, the reference. */
export function sitePages(
  context: NodeContext,
  monitor: HealthMonitor,
  routes: readonly Route[],
): readonly PageRoute[] {
  return pageRoutes({
    ...context,
    self: context.config.id,
    version: VERSION,
    health: () => monitor.health,
    peers: () => context.transport.peers(),
    document: (baseUrl) => openApiDocument(routes, { version: VERSION, baseUrl }),
  });
}

/** The routes, what is told of those that are sold, and the document of them all. */
function withDocuments(routes: readonly Route[], options: DiscoveryOptions): readonly Route[] {
  const all = [...routes, ...discoveryRoutes(routes, options)];
  return [...all, openApiRoute(all, { version: VERSION, baseUrl: options.baseUrl })];
}

function federationSourcesOf(context: NodeContext): FederationSources {
  const { config, transport, federation } = context;
  return {
    ...context,
    self: config.id,
    peers: () => transport.peers(),
    catchingUp: () => federation.catchingUp,
    toldHeads: (node) => federation.toldHeads(node),
    faults: () => federation.faults.all(),
  };
}

function keyRefusalsOf({ store, foreign, accounts, intake, now }: NodeContext): KeyRefusals {
  const onChange = () => accounts.accountStore.forgetKeys();
  return new KeyRefusals({ store, foreign, record: (draft) => intake.submit(draft), onChange, now });
}

function recorderOf(
  { store, intake, idempotency, baseUrl, view, confirmations, evidence, storageGuard }: NodeContext,
  topic: string,
): Recorder {
  return {
    intake,
    idempotency,
    requireStorage: () => storageGuard.requireCapacity(),
    topic,
    verifyUrl: (id) => `${baseUrl()}/v1/verify/${id}`,
    recordOf: (id) => requireRecord(store, id),
    recordsFrom: (id, count) => readRecordsFrom(store, id, count),
    waitFor: (record, milliseconds, signal) =>
      waitForConfirmation({ confirmations, evidence, view }, record, milliseconds, signal),
  };
}

/** The endpoints that are paid for by the call, and what is free beside them. */
function paidRoutes(context: NodeContext): readonly Route[] {
  const verifyUrl = (id: RecordId): string => `${context.baseUrl()}/v1/verify/${id}`;
  const services = { ...context, verifyUrl };
  return [
    ...paidRecordRoutes(context, verifyUrl),
    ...factRoutes(services),
    verifyAuditRoute(services),
    attestedInferenceRoute(services),
    screeningRoute(services),
    counterpartyRoute({ ...services, chain: context.paymentService?.chain ?? null }),
    regwatchFeedRoute(services),
  ];
}

/** The paid endpoints that record decisions, and that sum up what is on record. */
function paidRecordRoutes(context: NodeContext, verifyUrl: VerifyUrl): readonly Route[] {
  const { agents, agentSigning, baseUrl, settlements, store, config, now } = context;
  const history = new AgentHistory(store, config.id);
  return [
    paidTieredAttestRoute({ verifyUrl, agents, agentSigning, now }),
    ...BATCH_SERVICES.map((service) => batchRoute({ verifyUrl, now }, service)),
    agentRecordRoute({ verifyUrl, agents, history, baseUrl, now }),
    walletRecordRoute({ verifyUrl, settlements, now }),
  ];
}

/** What an operator may ask of a running node. Reached through the socket in the node's home alone. */
export function operatorRoutes(context: NodeContext): readonly OperatorRoute[] {
  const { accounts, config, keys, rosterVotes } = context;
  return [
    ...operatorAccountRoutes(accounts, context.secondFactors),
    ...backupRoutes({ ...context, ...context.governance, self: config.id }),
    ...operatorListRoutes(context),
    ...regwatchRoutes(context),
    operatorOverviewRoute({
      ...context,
      federation: federationSourcesOf(context),
      node: config.id,
      isSelling: context.paymentService !== null,
    }),
    ...rosterRoutes({ ...context, self: config.id, currentRosters: keys.currentRosters, votes: rosterVotes }),
    ...screeningRoutes(context),
    ...signingKeyRoutes({ ...context, self: config.id }),
  ];
}
