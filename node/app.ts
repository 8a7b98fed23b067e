import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type Koa from 'koa';
import type { RecordId } from '../protocol/ids.ts';
import { dailyHeadDraft } from './audit-log/daily-head-draft.ts';
import { DailyHeads } from './audit-log/daily-heads.ts';
import type { NodeContext } from './context.ts';
import { createApp } from './http/app.ts';
import { ApiGate, operatorGate } from './http/gate.ts';
import type { Route } from './http/route.ts';
import { attestRoute } from './http/routes/attest.ts';
import type { DecisionRooms } from './http/routes/decisions.ts';
import type { Recorder } from './http/recording/recorder.ts';
import { bundleRoute, verifyBundleRoute } from './http/routes/bundles.ts';
import { federationRoute } from './http/routes/federation.ts';
import { healthRoute } from './http/routes/health.ts';
import { keyRoutes } from './http/routes/keys.ts';
import { metricsRoute } from './http/routes/metrics.ts';
import { openApiRoute } from './http/routes/openapi.ts';
import { problemRoute } from './http/routes/problems.ts';
import { statusRoute } from './http/routes/status.ts';
import { tieredAttestRoute } from './http/routes/tiered-attest.ts';
import { verifyRoute } from './http/routes/verify.ts';
import { type Listener, listen, listenOnSocket } from './http/server.ts';
import { StorageGuard } from './limits/storage-guard.ts';
import { HealthMonitor } from './metrics/health-monitor.ts';
import { operatorRoutes } from './operator/operator-routes.ts';
import { VERSION } from './version.ts';

const OPERATOR_SOCKET = 'operator.sock';
const OPERATOR_SOCKET_MODE = 0o600;

/** A running node. */
export interface NodeApp extends AsyncDisposable {
  readonly httpPort: number;
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
  await federation.start();
  await context.resumeChain(signal);
  const storage = starting.use(
    await StorageGuard.start({ directory: context.store.directory, quotaBytes: config.storageQuotaBytes, log }),
  );
  intake.start();
  sealer.start();
  anchoring.start();
  const operator = createApp({ ...appOptions(context), routes: operatorRoutes(context.accounts), gate: operatorGate });
  starting.use(await listenForOperator(operator, join(config.home, OPERATOR_SOCKET)));
  const heads = starting.use(dailyHeads(context));
  heads.start();
  const gate = new ApiGate({ ...context, behindProxy: config.http.behindProxy });
  const options = appOptions(context);
  const routes = withDocument(apiRoutes(context, monitor, storage), options.baseUrl);
  const app = createApp({ ...options, routes, gate });
  const http = starting.use(await listen(app.callback(), config.http, options.baseUrl));
  log.info({ port: http.port, node: config.id }, 'the node accepts records');
  const running = starting.move();
  return { httpPort: http.port, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function appOptions({ log, metrics, config, keys }: NodeContext) {
  return {
    log,
    baseUrl: keys.rosters.member(config.id)?.baseUrl ?? '',
    observe: metrics.observeAnswer.bind(metrics),
  };
}

function apiRoutes(context: NodeContext, monitor: HealthMonitor, storage: StorageGuard): readonly Route[] {
  const { config, keys, transport, federation, verifier, metrics, now, view, evidence, linked, payload, log } = context;
  const { topicId } = keys.rosters.current.ledger;
  const region = keys.rosters.member(config.id)?.region ?? config.id;
  const decisions: DecisionRooms = {
    recorder: recorderOf(context, topicId, storage),
    sessions: context.sessions,
    now,
    sealNow: () => context.sealer.seal(),
  };
  return [
    attestRoute(decisions),
    tieredAttestRoute(decisions),
    statusRoute({ evidence, view, topic: topicId, now }),
    verifyRoute({ verifier, topic: topicId, now, log }),
    bundleRoute({ keys, evidence, linked, payload, now }),
    verifyBundleRoute(verifier),
    healthRoute({ region, node: config.id, version: VERSION, now, health: () => monitor.health }),
    federationRoute({
      ...context,
      self: config.id,
      peers: () => transport.peers(),
      catchingUp: () => federation.catchingUp,
    }),
    metricsRoute(metrics),
    ...keyRoutes({ keys: context.accounts.keys, now }),
  ];
}

/** The routes, the pages of their problems, and the document of them all. */
function withDocument(routes: readonly Route[], baseUrl: string): readonly Route[] {
  const all = [...routes, problemRoute()];
  const documented = all.filter((route) => route.documentation !== undefined);
  return [...all, openApiRoute(documented, { version: VERSION, baseUrl })];
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

function recorderOf(
  { intake, idempotency, keys, config, view, confirmations, evidence }: NodeContext,
  topic: string,
  storage: StorageGuard,
): Recorder {
  const baseUrl = keys.rosters.member(config.id)?.baseUrl ?? '';
  const find = async (id: RecordId) => {
    const found = await evidence(id);
    if (found === undefined) throw new RangeError(`${id} is not in the store`);
    return found;
  };
  const statusOf = async (id: RecordId) => (await view.of(await find(id))).status;
  return {
    intake,
    idempotency,
    requireStorage: () => storage.requireRoom(),
    topic,
    verifyUrl: (id) => `${baseUrl}/v1/verify/${id}`,
    recordOf: async (id) => (await find(id)).record,
    async waitFor(record, milliseconds, signal) {
      const confirmed = confirmations.wait(record.seq, milliseconds, signal);
      // The record may have been confirmed before the wait began.
      if ((await statusOf(record.id)) === 'confirmed') return 'confirmed';
      await confirmed;
      return statusOf(record.id);
    },
  };
}

async function listenForOperator(app: Koa, path: string): Promise<Listener> {
  // A socket that a killed node left behind; the store's lock has shown that no other node lives here.
  await rm(path, { force: true });
  const listener = await listenOnSocket(app.callback(), path);
  await chmod(path, OPERATOR_SOCKET_MODE);
  return listener;
}
