import type { Tier } from '../accounts/account.ts';

/** Null: no limit. */
export interface TierLimits {
  /** All authenticated requests of the account, in any 60 seconds. */
  readonly requestsPerMinute: number | null;
  /** Records made by accepted calls, in a UTC day. */
  readonly recordsPerDay: number | null;
}

/** The table of SPEC §8. */
export const TIER_LIMITS: Readonly<Record<Tier, TierLimits>> = {
  developer: { requestsPerMinute: 60, recordsPerDay: 1_000 },
  standard: { requestsPerMinute: 600, recordsPerDay: 100_000 },
  professional: { requestsPerMinute: 1_200, recordsPerDay: 1_000_000 },
  enterprise: { requestsPerMinute: 6_000, recordsPerDay: null },
  unmetered: { requestsPerMinute: null, recordsPerDay: null },
};

/** A limit on one endpoint, for every metered account, beside that of its tier. */
export interface EndpointLimit {
  readonly requestsPerMinute: number;
  /** The endpoint for callers who need more. */
  readonly instead: string;
}

/** By method and path, as routes name them. */
export const ENDPOINT_LIMITS: Readonly<Record<string, EndpointLimit>> = {
  'POST /v1/attest': { requestsPerMinute: 60, instead: '/v1/tiered-attest' },
};

/** Records a month that the Developer tier is meant for: shown, and never enforced (DOMAIN §5). */
export const DEVELOPER_MONTHLY_QUOTA = { value: 1_000, enforce: false } as const;
