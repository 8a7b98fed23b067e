import type { DailyReservation, DailyStanding, DailyUsage } from './daily-usage.ts';
import { dailyHeaders, type Headers, LimitError, rateHeaders, retryAfter } from './limit-error.ts';
import type { LimitedAccount, RateDecision, RateLimits } from './rate-limits.ts';
import type { WindowState } from './sliding-window.ts';

/** A request that may go on. Released once it ends: what it held of the daily cap and did not use is free again. */
export interface Admission {
  /** `RateLimit-*` and `X-Daily-*` as they are now. */
  headers(): Headers;
  /**
   * Asks for room for so many records in the place of what was held so far. Throws `LimitError` `daily-cap-exceeded`,
   * and then nothing is held, and `StoreError`.
   */
  reserve(records: number): Promise<void>;
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
   * Lets a request in: to the endpoint `POST /v1/attest`, to make this many records (0 for one that makes none); one
   * that turns out to make another number says so by `reserve`. `later`: one that may make none, as it was answered
   * already; it holds nothing before it says by `reserve` how many. One that the daily cap refuses has taken its slot
   * of the minute. Throws `LimitError` and `StoreError`.
   */
  async admit(account: LimitedAccount, endpoint: string, records: number | 'later'): Promise<Admission> {
    const decision = this.#rates.admit(account, endpoint);
    if (decision.kind === 'refused') throw rateError(decision, account);
    const { window } = decision;
    if (records === 0) return admissionOf(window, await this.#daily.standing(account));
    let held = await this.#hold(account, records === 'later' ? 0 : records, window);
    return {
      headers: () => ({ ...rateHeaders(window), ...dailyHeaders(held.standing()) }),
      reserve: async (more) => {
        held.release();
        held = await this.#hold(account, more, window);
      },
      release: () => held.release(),
    };
  }

  async #hold(account: LimitedAccount, records: number, window: WindowState | null): Promise<DailyReservation> {
    const daily = await this.#daily.reserve(account, records);
    if (daily.kind === 'reserved') return daily.reservation;
    const { standing } = daily;
    const headers = { ...rateHeaders(window), ...dailyHeaders(standing), ...retryAfter(daily.retryAfterSeconds) };
    const message = `The account may record ${standing.limit} a day (UTC).`;
    throw new LimitError('daily-cap-exceeded', message, headers, { kind: 'account', id: account.id });
  }
}

function admissionOf(window: WindowState | null, standing: DailyStanding | null): Admission {
  const headers = { ...rateHeaders(window), ...dailyHeaders(standing) };
  const reserve = () => Promise.reject(new RangeError('a request that makes no record reserves none'));
  return { headers: () => headers, reserve, release: nothing };
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
