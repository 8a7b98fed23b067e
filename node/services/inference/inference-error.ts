export type InferenceErrorCode =
  /** There is no model, or it cannot be reached or loaded at present. */
  | 'unavailable'
  /** As many wait for the model as may. */
  | 'busy'
  /** The prompt leaves no room for a completion. */
  | 'prompt-too-long'
  /** The engine gave no completion that can be used. */
  | 'failed'
  | 'timed-out';

/** How long a prompt is, and how long prompt and completion may be together. Null where it was not said. */
export interface TokenCounts {
  readonly promptTokens: number | null;
  readonly contextTokens: number | null;
}

const UNKNOWN: TokenCounts = { promptTokens: null, contextTokens: null };

/** Why there is no completion. The message is for callers: it says nothing of prompts, credentials or files. */
export class InferenceError extends Error {
  override readonly name = 'InferenceError';
  readonly code: InferenceErrorCode;
  readonly counts: TokenCounts;

  constructor(code: InferenceErrorCode, message: string, options: { cause?: unknown; counts?: TokenCounts } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.counts = options.counts ?? UNKNOWN;
  }
}
