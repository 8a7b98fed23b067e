import type { Metrics } from '../../metrics/metrics.ts';
import type { FreeRoute } from '../route.ts';

/** `GET /metrics`: for the operator's Prometheus. Counts only; no id, name or payload is ever a label. */
export function metricsRoute(metrics: Metrics): FreeRoute {
  return {
    method: 'GET',
    path: '/metrics',
    access: 'free',
    limited: false,
    documentation: {
      summary: 'Metrics of the node, for Prometheus',
      answer: { contentType: 'text/plain; version=0.0.4; charset=utf-8', example: 'meridian_records_total 903112' },
      problems: [],
    },
    async answer() {
      const { contentType, text } = await metrics.expose();
      return { body: text, headers: { 'Content-Type': contentType } };
    },
  };
}
