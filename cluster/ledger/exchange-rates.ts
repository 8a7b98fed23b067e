import { SECOND } from './consensus-time.ts';
import type { Nanos } from './consensus-time.ts';
import type { FeeSchedule } from './fees.ts';

/** `hbars` are worth `cents` until `expires`, in seconds since the epoch. */
export interface ExchangeRate {
  readonly hbars: number;
  readonly cents: number;
  readonly expires: bigint;
}

const HOUR_SECONDS = 3_600n;

/** The rate of the current hour and of the next; this ledger's rate never changes. */
export function exchangeRates({ rate }: FeeSchedule, now: Nanos): { current: ExchangeRate; next: ExchangeRate } {
  const expires = (now / SECOND / HOUR_SECONDS + 1n) * HOUR_SECONDS;
  return { current: { ...rate, expires }, next: { ...rate, expires: expires + HOUR_SECONDS } };
}
