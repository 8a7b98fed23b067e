/**
 * `document-refused`: it cannot be read as what it says it is, or could do harm. `source-unknown`: no source of that
 * id. `item-unknown`: no item of that id is held.
 */
export type RegwatchErrorCode = 'document-refused' | 'source-unknown' | 'item-unknown';

/** Nothing was recorded. */
export class RegwatchError extends Error {
  override readonly name = 'RegwatchError';
  readonly code: RegwatchErrorCode;

  constructor(code: RegwatchErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export function refused(message: string, cause?: unknown): RegwatchError {
  return new RegwatchError('document-refused', message, cause);
}
