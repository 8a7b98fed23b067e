import { apiRoutes } from './api-routes.ts';
import { dailyHeadDraft } from './audit-log/daily-head-draft.ts';
import { DailyHeads } from './audit-log/daily-heads.ts';
import type { NodeContext } from './context.ts';
import { recoveringFace } from './recovering-face.ts';
import { createApp } from './http/app.ts';
import { discoveryExtensions } from './http/discovery/bazaar.ts';
import { ApiGate, operatorGate } from './http/gate.ts';
import { PaidGate } from './http/paid-gate.ts';
import { listen } from './http/server.ts';
import { HealthMonitor } from './metrics/health-monitor.ts';
import { listenForMetrics } from './metrics/metrics-listener.ts';
import { listenForOperator } from './operator/operator-listener.ts';
import { operatorRoutes } from './operator/operator-routes.ts';
import { settlementHeadDraft } from './payments/settlement-head-draft.ts';
import { settlementAttestedTable, settlementDayTable } from './payments/settlement-tables.ts';

/** A running node. */
export interface NodeApp extends AsyncDisposable {
  readonly httpPort: number;
  readonly metricsPort: number;
}

/**
 * Starts a node's loops and faces. Records are accepted once this resolves; ledger and peers need not be there, but are
 * waited for a moment: they know whether this node's chain goes further than its store. The signal gives up the start.
 * Disposing it closes the faces first, so that what was accepted is still answered, and leaves the context open.
 */
export async function startApp(context: NodeContext, signal = new AbortController().signal): Promise<NodeApp> {
  const { config, log, intake, sealer, anchoring, federation } = context;
  await using starting = new AsyncDisposableStack();
  const monitor = await HealthMonitor.start(context);
  starting.use(monitor);
  const metrics = starting.use(await listenForMetrics(context.metrics, config.metrics, log));
  await federation.start();
  context.follower.start();
  context.vouching.start();
  {
    await using _face = await recoveringFace(context, monitor);
    await context.resumeChain(signal);
  }
  context.follower.startSigning();
  context.namer.start();
  context.rescue.start();
  await context.lists.start();
  context.searches.start();
  intake.start();
  sealer.start();
  // A crash, or a revocation that was decided while this node was away, may have left something.
  void sealer.signAnew();
  anchoring.start();
  context.purges.start();
  context.listUpdates?.start();
  context.regSources.start();
  const operator = createApp({ ...appOptions(context), routes: operatorRoutes(context), gate: operatorGate });
  starting.use(await listenForOperator(operator, config.home));
  const heads = starting.use(dailyHeads(context));
  heads.start();
  const settlementHeads = starting.use(dailySettlementHeads(context));
  settlementHeads.start();
  const gate = new ApiGate({ ...context, trustedProxies: config.http.trustedProxies });
  const options = appOptions(context);
  const routes = apiRoutes(context, monitor);
  const paidGate = await openPaidGate(context);
  const app = createApp({ ...options, routes, gate, ...(paidGate === null ? {} : { paidGate }) });
  const http = starting.use(await listen(app.callback(), config.http, options.baseUrl, tellOfFirst(log)));
  log.info({ port: http.port, node: config.id }, 'the node accepts records');
  const running = starting.move();
  return { httpPort: http.port, metricsPort: metrics.port, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function appOptions({ log, metrics, baseUrl }: NodeContext) {
  return {
    log,
    baseUrl,
    observe: metrics.observeAnswer.bind(metrics),
  };
}

/** The first says what to set right, or whom to keep out; one line for each would be theirs to fill the disk with. */
function tellOfFirst(log: NodeContext['log']): (address: string) => void {
  let told = false;
  return (address) => {
    if (!told) log.warn({ address }, 'without TLS_CERT only TRUSTED_PROXIES may connect: closed, and others later without a word');
    told = true;
  };
}

function dailyHeads({ store, auditLog, now, log, intake }: NodeContext): DailyHeads {
  return new DailyHeads({
    store,
    auditLog,
    now,
    log,
    attest: async (head, besides) => (await intake.submit(dailyHeadDraft(head, besides))).record.id,
  });
}

function dailySettlementHeads({ store, settlements, now, log, intake }: NodeContext): DailyHeads {
  return new DailyHeads({
    store,
    auditLog: settlements,
    tables: { open: settlementDayTable, attested: settlementAttestedTable },
    now,
    log,
    attest: async (head, besides) => (await intake.submit(settlementHeadDraft(head, besides))).record.id,
  });
}

/** Takes payments from now on; null where the node takes none. */
async function openPaidGate(context: NodeContext): Promise<PaidGate | null> {
  const { till, config, room } = context;
  if (till === null) return null;
  await till.start();
  return new PaidGate({
    ...context,
    ...till,
    trustedProxies: config.http.trustedProxies,
    requireStorage: () => room.requireRoom(),
    extensionsOf: discoveryExtensions(),
  });
}
