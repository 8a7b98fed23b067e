import { USAGE_EXAMPLE, UsageAnswerShape } from '../../../protocol/api/usage.ts';
import { dayEnd } from '../../../protocol/audit/day.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { Tier } from '../../accounts/account.ts';
import type { DailyUsage, UsageFigures } from '../../accounts/limits/daily-usage.ts';
import type { RateLimits } from '../../accounts/limits/rate-limits.ts';
import type { WindowState } from '../../accounts/limits/sliding-window.ts';
import { DEVELOPER_MONTHLY_QUOTA } from '../../accounts/limits/allowances.ts';
import { endOfMonth, monthOf } from '../../accounts/limits/usage-table.ts';
import type { KeyRoute } from '../route.ts';

export interface UsageServices {
  /** The node that counts. */
  readonly node: NodeId;
  readonly rates: Pick<RateLimits, 'standing'>;
  readonly usage: Pick<DailyUsage, 'figures'>;
}

const MONTHLY_QUOTA = { value: DEVELOPER_MONTHLY_QUOTA.value, enforced: DEVELOPER_MONTHLY_QUOTA.enforce };

/** `GET /v1/usage` (api-rules §8): where the account stands with its limits. Any key may ask. */
export function usageRoute({ node, rates, usage }: UsageServices): KeyRoute {
  return {
    method: 'GET',
    path: '/v1/usage',
    access: 'key',
    scope: null,
    documentation: {
      summary: 'Where the account stands with its limits',
      description:
        'Requests of the last minute, and records of the UTC day and month, as `countedBy` counts them: each node that an ' +
        'account names counts for itself. Records that a wallet paid for while a key of the account came along count too, ' +
        'and are never refused for the cap. Limits, idempotency, duplicates, chains of sources, sessions, locks and lists are ' +
        'each node’s own. Asking is a request.',
      answer: { shape: UsageAnswerShape, example: USAGE_EXAMPLE },
      problems: [],
    },
    async answer(_call, { account }) {
      const standing = rates.standing(account);
      const figures = await usage.figures(account);
      return {
        body: {
          success: true,
          tier: account.tier,
          countedBy: node,
          minute: standing.tier === null ? null : windowOf(standing.tier),
          endpoints: standing.endpoints.map(([endpoint, { limit, remaining, resetSeconds }]) => ({
            endpoint,
            limit,
            remaining,
            resetSeconds,
          })),
          day: dayOf(figures),
          month: monthFor(account.tier, figures),
        },
      };
    },
  };
}

function windowOf({ limit, remaining, resetSeconds }: WindowState) {
  return { limit, remaining, resetSeconds };
}

function dayOf({ day, recordsToday, limit, remaining }: UsageFigures) {
  return { day, records: recordsToday, limit, remaining, resetsAt: timestampOf(dayEnd(day)) };
}

function monthFor(tier: Tier, { day, recordsThisMonth }: UsageFigures) {
  return {
    month: monthOf(day),
    records: recordsThisMonth,
    quota: tier === 'developer' ? MONTHLY_QUOTA : null,
    resetsAt: timestampOf(endOfMonth(day)),
  };
}
