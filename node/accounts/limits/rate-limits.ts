import type { Account } from '../account.ts';
import { MINUTE_MS, SlidingWindow, type WindowState } from './sliding-window.ts';
import { ENDPOINT_LIMITS, type EndpointLimit, TIER_LIMITS } from './allowances.ts';

/** Whose requests are counted. */
export type LimitedAccount = Pick<Account, 'id' | 'tier'>;

export type RateDecision =
  /** `window` is the one nearest to its limit; null where the account has none. */
  | { readonly kind: 'admitted'; readonly window: WindowState | null }
  | { readonly kind: 'refused'; readonly by: 'tier'; readonly window: WindowState }
  | { readonly kind: 'refused'; readonly by: 'endpoint'; readonly window: WindowState; readonly instead: string };

export interface RateStanding {
  readonly tier: WindowState | null;
  /** Of each endpoint that has a limit of its own, by method and path. */
  readonly endpoints: readonly (readonly [endpoint: string, window: WindowState])[];
}

interface LimitedEndpoint extends EndpointLimit {
  readonly windows: SlidingWindow;
}

/** Accounts whose last minute is kept apart. */
const MAX_ACCOUNTS = 100_000;

/**
 * Requests a minute of each account, all its keys together: those of its tier over all endpoints, and those of single
 * endpoints beside them. A request refused by one takes no slot of the other.
 */
export class RateLimits {
  readonly #now: () => number;
  readonly #tiers = new SlidingWindow({ windowMs: MINUTE_MS, maxSubjects: MAX_ACCOUNTS });
  readonly #endpoints: ReadonlyMap<string, LimitedEndpoint>;

  /** `now` is a steady clock in milliseconds: no change of the time of day moves it. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#endpoints = new Map(
      Object.entries(ENDPOINT_LIMITS).map(([endpoint, limit]) => [
        endpoint,
        { ...limit, windows: new SlidingWindow({ windowMs: MINUTE_MS, maxSubjects: MAX_ACCOUNTS }) },
      ]),
    );
  }

  /** Decides on one request to an endpoint, named `POST /v1/attest`. */
  admit({ id, tier }: LimitedAccount, endpoint: string): RateDecision {
    const { requestsPerMinute } = TIER_LIMITS[tier];
    if (requestsPerMinute === null) return { kind: 'admitted', window: null };
    const limited = this.#endpoints.get(endpoint);
    const now = this.#now();
    if (limited === undefined) {
      const window = this.#tiers.take(id, requestsPerMinute, now);
      return window.allowed ? { kind: 'admitted', window } : { kind: 'refused', by: 'tier', window };
    }
    const before = this.#tiers.look(id, requestsPerMinute, now);
    if (!before.allowed) return { kind: 'refused', by: 'tier', window: before };
    const narrow = limited.windows.take(id, Math.min(requestsPerMinute, limited.requestsPerMinute), now);
    if (!narrow.allowed) return { kind: 'refused', by: 'endpoint', window: narrow, instead: limited.instead };
    const wide = this.#tiers.take(id, requestsPerMinute, now);
    return { kind: 'admitted', window: wide.remaining <= narrow.remaining ? wide : narrow };
  }

  /** Takes nothing. */
  standing({ id, tier }: LimitedAccount): RateStanding {
    const { requestsPerMinute } = TIER_LIMITS[tier];
    if (requestsPerMinute === null) return { tier: null, endpoints: [] };
    const now = this.#now();
    return {
      tier: this.#tiers.look(id, requestsPerMinute, now),
      endpoints: [...this.#endpoints].map(([endpoint, limited]) => [
        endpoint,
        limited.windows.look(id, Math.min(requestsPerMinute, limited.requestsPerMinute), now),
      ]),
    };
  }
}
