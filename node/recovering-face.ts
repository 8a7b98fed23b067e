import { apiRoutes } from './api-routes.ts';
import type { NodeContext } from './context.ts';
import { createApp } from './http/app.ts';
import { ApiGate, type Gate, operatorGate } from './http/gate.ts';
import { Problem } from './http/problem.ts';
import { listen } from './http/server.ts';
import type { HealthMonitor } from './metrics/health-monitor.ts';
import { restorationRoute } from './operator/backup-routes.ts';
import { listenForOperator } from './operator/operator-listener.ts';

/** When a caller may ask again. In seconds. */
const RETRY_AFTER = { headers: { 'Retry-After': '30' } };

/**
 * What a restored copy shows while it may not sign: health, metrics and whatever anyone may read without a key. All that
 * needs a key or a payment is refused with 503: the copy may not know that a key was revoked or a payment made. Null where
 * the node is no such copy.
 */
export async function recoveringFace(
  context: NodeContext,
  monitor: HealthMonitor,
): Promise<AsyncDisposableStack | null> {
  const { recovery, config, log, metrics, baseUrl } = context;
  if (recovery === null) return null;
  await using opening = new AsyncDisposableStack();
  const shared = { log, baseUrl, observe: metrics.observeAnswer.bind(metrics) };
  const operator = createApp({
    ...shared,
    routes: [restorationRoute({ ...context, self: config.id })],
    gate: operatorGate,
  });
  opening.use(await listenForOperator(operator, config.home));
  const gate = readingGate(new ApiGate({ ...context, trustedProxies: config.http.trustedProxies }));
  const paidGate = { answer: () => Promise.reject(recovering()) };
  const app = createApp({ ...shared, routes: apiRoutes(context, monitor), gate, paidGate });
  opening.use(await listen(app.callback(), config.http, baseUrl));
  return opening.move();
}

function readingGate(gate: Gate): Gate {
  return {
    free: (context, route, answer) =>
      route.method === 'GET' ? gate.free(context, route, answer) : Promise.reject(recovering()),
    keyed: () => Promise.reject(recovering()),
  };
}

function recovering(): Problem {
  const detail = 'The node was restored from a copy and does not know yet how far its chain goes.';
  return new Problem('dependency-unavailable', detail, RETRY_AFTER);
}
