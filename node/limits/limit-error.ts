export type LimitErrorCode = 'rate-limited' | 'endpoint-limit-exceeded' | 'daily-cap-exceeded' | 'storage-full';

/** A request that a limit does not let through. Its message is for the caller. */
export class LimitError extends Error {
  override readonly name = 'LimitError';
  readonly code: LimitErrorCode;
  /** Of the answer, `Retry-After` among them. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: LimitErrorCode, message: string, headers: Readonly<Record<string, string>>) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}
