import type { DailyReservation, DailyStanding, DailyUsage } from './daily-usage.ts';
import { dailyHeaders, type Headers, rateHeaders, retryAfter } from './limit-headers.ts';
import { LimitError } from './limit-error.ts';
import type { LimitedAccount, RateDecision, RateLimits } from './rate-limits.ts';
import type { WindowState } from './sliding-window.ts';

/** A request that may go on. Ends with it: then what it held of the daily cap and did not use is free again. */
export interface Admission extends Disposable {
  /** `RateLimit-*` and `X-Daily-*` as they are now. */
  headers(): Headers;
  /** Lets go of the daily cap before the request ends. A second call does nothing. */
  release(): void;
}

/** What an account's request must pass before any of its body is read. */
export class RequestLimits {
  readonly #rates: RateLimits;
  readonly #daily: DailyUsage;

  constructor(rates: RateLimits, daily: DailyUsage) {
    this.#rates = rates;
    this.#daily = daily;
  }

  /**
   * Lets a request in: to the endpoint `POST /v1/attest`, to make this many records at most (0 for one that makes none).
   * One that the daily cap refuses has taken its slot of the minute. Throws `LimitError` and `StoreError`.
   */
  async admit(account: LimitedAccount, endpoint: string, records: number): Promise<Admission> {
    const decision = this.#rates.admit(account, endpoint);
    if (decision.kind === 'refused') throw rateError(decision, account);
    const { window } = decision;
    if (records === 0) return admissionOf(window, await this.#daily.standing(account));
    const daily = await this.#daily.reserve(account, records);
    if (daily.kind === 'reserved') return reservedAdmission(window, daily.reservation);
    const { standing } = daily;
    const headers = { ...rateHeaders(window), ...dailyHeaders(standing), ...retryAfter(daily.retryAfterSeconds) };
    const message = `The account may record ${standing.limit} a day (UTC).`;
    throw new LimitError('daily-cap-exceeded', message, headers, { kind: 'account', id: account.id });
  }
}

function admissionOf(window: WindowState | null, standing: DailyStanding | null): Admission {
  const headers = { ...rateHeaders(window), ...dailyHeaders(standing) };
  return { headers: () => headers, release: nothing, [Symbol.dispose]: nothing };
}

function reservedAdmission(window: WindowState | null, reservation: DailyReservation): Admission {
  const { release } = reservation;
  return {
    headers: () => ({ ...rateHeaders(window), ...dailyHeaders(reservation.standing()) }),
    release,
    [Symbol.dispose]: release,
  };
}

function rateError(refusal: Extract<RateDecision, { kind: 'refused' }>, { id }: LimitedAccount): LimitError {
  const holder = { kind: 'account', id } as const;
  const { window } = refusal;
  const headers = { ...rateHeaders(window), ...retryAfter(window.retryAfterSeconds) };
  return refusal.by === 'tier'
    ? new LimitError('rate-limited', `The account may make ${window.limit} requests a minute.`, headers, holder)
    : new LimitError(
        'endpoint-limit-exceeded',
        `This endpoint takes ${window.limit} requests a minute; ${refusal.instead} takes more.`,
        headers,
        holder,
      );
}

function nothing(): void {}
