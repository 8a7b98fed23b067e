import type { LogHealth } from '../../../protocol/api/log-state.ts';
import { HEALTH_EXAMPLE, HealthAnswerShape } from '../../../protocol/api/node-answers.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { startWaitAnswer } from '../../federation/start/node-start.ts';
import type { Health } from '../../metrics/health-monitor.ts';
import type { FreeRoute } from '../route.ts';

export interface HealthSources {
  readonly region: () => string;
  readonly node: string;
  readonly version: string;
  readonly now: () => number;
  readonly health: () => Health;
  /** How the federation's log stands. */
  readonly log: () => LogHealth;
}

/** `GET /v1/health`: `ok` while records are accepted; trouble with the ledger shows in `checks` and changes nothing. */
export function healthRoute({ region, node, version, now, health, log }: HealthSources): FreeRoute {
  return {
    method: 'GET',
    path: '/v1/health',
    access: 'free',
    limited: false,
    documentation: {
      summary: 'Whether the node takes records',
      description:
        '`ok` while records are accepted; trouble with the ledger shows in `checks` and `log` and changes nothing.',
      answer: { shape: HealthAnswerShape, example: HEALTH_EXAMPLE },
      otherStatuses: { 503: 'The node takes no records.' },
      problems: [],
    },
    async answer() {
      const { waits, removed, ...checks } = health();
      const hasCapacity = checks.storage === 'ok' || checks.storage === 'warn';
      const accepts = hasCapacity && checks.signer === 'ok';
      return {
        status: accepts ? 200 : 503,
        body: {
          status: accepts ? 'ok' : 'unavailable',
          ts: timestampOf(now()),
          region: region(),
          node,
          version,
          checks,
          waits: waits.map(startWaitAnswer),
          removed: removed && { ...removed },
          log: log(),
        },
      };
    },
  };
}
