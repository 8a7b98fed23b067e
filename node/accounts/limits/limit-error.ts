import type { Holder } from './holder.ts';

export type LimitErrorCode = 'rate-limited' | 'endpoint-limit-exceeded' | 'daily-cap-exceeded' | 'storage-full';

/** A request that a limit does not let through. Its message is for the caller. */
export class LimitError extends Error {
  override readonly name = 'LimitError';
  readonly code: LimitErrorCode;
  /** Of the answer, `Retry-After` among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whose limit it is; undefined where it is that of all, or of whoever asks. */
  readonly holder: Holder | undefined;

  constructor(code: LimitErrorCode, message: string, headers: Readonly<Record<string, string>>, holder?: Holder) {
    super(message);
    this.code = code;
    this.headers = headers;
    this.holder = holder;
  }
}
