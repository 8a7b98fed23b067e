import type { RequestListener } from 'node:http';
import { dailyHeadDraft } from './accounts/audit-log/daily-head-draft.ts';
import { DailyHeads } from './accounts/audit-log/daily-heads.ts';
import { listening } from './config/read-variable.ts';
import type { NodeContext } from './context.ts';
import { endReread } from './federation/reread.ts';
import { createApp, UncountedAnswers } from './http/app.ts';
import { consoleRoutes } from './http/console/console.ts';
import { ConsoleApi } from './http/console/console-api.ts';
import { discoveryExtensions } from './http/discovery/bazaar.ts';
import { ApiGate, operatorGate, startingGate, startingOperatorGate } from './http/gate.ts';
import { listenForMetrics } from './http/metrics-listener.ts';
import { PaidGate, startingPaidGate } from './http/paid-gate.ts';
import { SignInCookie } from './http/sign-in-cookie.ts';
import { RequestScheduler } from './http/request-scheduler.ts';
import { listen, type Listener } from './http/server.ts';
import { HealthMonitor } from './metrics/health-monitor.ts';
import { RESTORATIONS_PATH } from './operator/backup-routes.ts';
import { listenForOperator } from './operator/operator-listener.ts';
import { ROSTERS_PATH } from './operator/roster-routes.ts';
import { REVOKE_PATH, SIGNING_KEYS_PATH } from './operator/signing-key-routes.ts';
import { settlementAttestedTable, settlementDayTable } from './payments/settlement-tables.ts';
import { apiRoutes, operatorRoutes, sitePages } from './routes.ts';
import { WorkBounds } from './http/work-bounds.ts';
import { sealLast } from './wiring/sealed-batches.ts';

/**
 * What an operator may ask while the node may not sign: what became of a restored copy, to name the next roster, and to
 * revoke a key. It may be a stolen key, or a member that is gone for good, that the node waits for.
 */
const OPEN_AT_START = [RESTORATIONS_PATH, ROSTERS_PATH, SIGNING_KEYS_PATH, REVOKE_PATH];

/** A running node. */
export interface NodeApp extends AsyncDisposable {
  readonly httpPort: number;
  readonly metricsPort: number;
}

/**
 * Starts a node's loops and listeners. Its API answers what anyone may read at once; records are accepted once this
 * resolves, which may take until the ledger and the other members have told how far this node's chain goes. The signal
 * gives up the start. Throws `ConfigError` or `PeerListenError` where it cannot listen. Disposing it closes the
 * listeners first, so that what was accepted is still answered, and leaves the context open.
 */
export async function startApp(context: NodeContext, signal = new AbortController().signal): Promise<NodeApp> {
  const { config, log, intake, sealer, federation, start } = context;
  await using starting = new AsyncDisposableStack();
  const monitor = await HealthMonitor.start(context);
  starting.use(monitor);
  const metrics = starting.use(
    await listening('METRICS_LISTEN', listenForMetrics(context.metrics, config.metrics, log)),
  );
  await federation.prepare();
  const payments: { gate: PaidGate | undefined } = { gate: undefined };
  const paidGate = () => payments.gate;
  const http = starting.use(await listening('HTTP_HOST, HTTP_PORT', listenForAll(context, monitor, paidGate)));
  // What talks to other members takes a moment to load, and nothing that anyone may read needs it.
  await federation.start();
  context.foreignStatements.start();
  context.follower.start();
  context.vouching.start();
  starting.use(await listenForOperatorOf(context));
  await start.run(signal);
  await endReread({ ...context, self: config.id, signal });
  context.follower.startSigning();
  context.rescue.start();
  await context.lists.start();
  context.searches.start();
  intake.start();
  sealer.start();
  // A crash, or a revocation that was decided while this node was away, may have left something.
  void sealer.signAnew();
  context.purges.start();
  context.idempotency.start();
  context.listUpdates?.start();
  context.regSources.start();
  const heads = starting.use(dailyHeads(context));
  heads.start();
  const settlementHeads = starting.use(dailySettlementHeads(context));
  settlementHeads.start();
  // Ended with the app: the context, which ends it too, has its intake end first.
  starting.use(context.statements);
  context.statements.start();
  starting.use(context.packs);
  await context.packs.start();
  starting.use(context.governance.oversight);
  context.governance.oversight.start();
  starting.use(context.alertTasks);
  context.alertTasks.start();
  payments.gate = await openPaidGate(context);
  start.end();
  if (federation.halted === null) log.info({ port: http.port, node: config.id }, 'the node accepts records');
  else log.warn({ port: http.port, node: config.id, reason: federation.halted }, 'the node records nothing');
  if (federation.halted === 'removed') sealLast(context);
  const running = starting.move();
  return { httpPort: http.port, metricsPort: metrics.port, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function listenForAll(
  context: NodeContext,
  monitor: HealthMonitor,
  paid: () => PaidGate | undefined,
): Promise<Listener> {
  const { config, start, paymentService } = context;
  const options = appOptions(context);
  const cookie = new SignInCookie({ ...context, node: config.id });
  const gate = startingGate(new ApiGate({ ...context, cookie, trustedProxies: config.http.trustedProxies }), start);
  const paidGate = paymentService === null ? {} : { paidGate: startingPaidGate(paid) };
  const uncounted = new UncountedAnswers({
    uncounted: context.uncounted,
    trustedProxies: config.http.trustedProxies,
    onPaced: (holder) => context.refusals.note({ class: 'none', holder, reason: 'uncounted' }),
  });
  const api = apiRoutes(context, monitor);
  const bounds = new WorkBounds();
  const screens = consoleRoutes({
    ...context,
    self: config.id,
    cookie,
    api: new ConsoleApi({ ...options, auditLog: context.auditLog, limits: context.limits, bounds, routes: api }),
    routes: api,
    trustedProxies: config.http.trustedProxies,
  });
  const routes = [...api, ...sitePages(context, monitor, api), ...screens];
  const app = createApp({ ...options, routes, gate, bounds, uncounted, ...paidGate });
  const scheduler = new RequestScheduler({ accounts: context.accounts, trustedProxies: config.http.trustedProxies });
  const answer = app.callback();
  const handler: RequestListener = (request, response) =>
    scheduler.schedule(request, () => void answer(request, response));
  return listen(handler, config.http, options.baseUrl, {
    onStranger: tellOfFirst(context.log),
    onRefused: (id) =>
      context.refusals.note({ class: 'connection', holder: { kind: 'address', id }, reason: 'connections' }),
  });
}

function listenForOperatorOf(context: NodeContext): Promise<Listener> {
  const gate = startingOperatorGate(operatorGate, context.start, OPEN_AT_START);
  const operator = createApp({ ...appOptions(context), routes: operatorRoutes(context), gate });
  return listenForOperator(operator, context.config.home);
}

function appOptions({ log, metrics, refusals, baseUrl }: NodeContext) {
  return {
    log,
    baseUrl,
    observe: metrics.observeAnswer.bind(metrics),
    onRefused: refusals.note.bind(refusals),
  };
}

/** The first says what to set right, or whom to keep out; one line for each would be theirs to fill the disk with. */
function tellOfFirst(log: NodeContext['log']): (address: string) => void {
  let told = false;
  return (address) => {
    if (!told) {
      log.warn(
        { address },
        'without TLS_CERT only TRUSTED_PROXIES may connect: closed, and others later without a word',
      );
    }
    told = true;
  };
}

function dailyHeads({ store, auditLog, now, isClockRight, log, intake }: NodeContext): DailyHeads {
  return new DailyHeads({
    store,
    auditLog,
    now,
    isClockRight,
    log,
    attest: async (head, besides) => (await intake.submit(dailyHeadDraft('audit-head', head, besides))).record.id,
  });
}

function dailySettlementHeads({ store, settlements, now, isClockRight, log, intake }: NodeContext): DailyHeads {
  return new DailyHeads({
    store,
    auditLog: settlements,
    tables: { open: settlementDayTable, attested: settlementAttestedTable },
    now,
    isClockRight,
    log,
    attest: async (head, besides) => (await intake.submit(dailyHeadDraft('settlement-head', head, besides))).record.id,
  });
}

/** Takes payments from now on; undefined where the node takes none. */
async function openPaidGate(context: NodeContext): Promise<PaidGate | undefined> {
  const { paymentService, config, storageGuard, intake } = context;
  if (paymentService === null) return undefined;
  await paymentService.start();
  return new PaidGate({
    ...context,
    ...paymentService,
    trustedProxies: config.http.trustedProxies,
    requireRecording: () => intake.requireCapacity(1),
    requireStorage: () => storageGuard.requireCapacity(),
    extensionsOf: discoveryExtensions(),
  });
}
