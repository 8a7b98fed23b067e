import type { DailyStanding } from './daily-usage.ts';
import type { Holder } from './holder-counts.ts';
import type { WindowState } from './sliding-window.ts';

export type Headers = Readonly<Record<string, string>>;

const NONE: Headers = {};

/** The minute window (draft-ietf-httpapi-ratelimit-headers-06 §3); none where there is no limit. */
export function rateHeaders(window: WindowState | null): Headers {
  if (window === null) return NONE;
  return {
    'RateLimit-Limit': String(window.limit),
    'RateLimit-Remaining': String(window.remaining),
    'RateLimit-Reset': String(window.resetSeconds),
  };
}

/** The daily cap; none where there is no cap. */
export function dailyHeaders(standing: DailyStanding | null): Headers {
  if (standing === null) return NONE;
  return { 'X-Daily-Limit': String(standing.limit), 'X-Daily-Remaining': String(standing.remaining) };
}

/** RFC 9110 §10.2.3. */
export function retryAfter(seconds: number): Headers {
  return { 'Retry-After': String(seconds) };
}

export type LimitErrorCode = 'rate-limited' | 'endpoint-limit-exceeded' | 'daily-cap-exceeded' | 'storage-full';

/** A request that a limit does not let through. Its message is for the caller. */
export class LimitError extends Error {
  override readonly name = 'LimitError';
  readonly code: LimitErrorCode;
  /** Of the answer, `Retry-After` among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whose limit it is; undefined where it is that of all, or of anyone who asks. */
  readonly holder: Holder | undefined;

  constructor(code: LimitErrorCode, message: string, headers: Readonly<Record<string, string>>, holder?: Holder) {
    super(message);
    this.code = code;
    this.headers = headers;
    this.holder = holder;
  }
}
