import type { AttestedInferenceRequest, InferenceAnswer } from '../../../protocol/api/attested-inference.ts';

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
interface TokenCounts {
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

export type ChatMessage = AttestedInferenceRequest['messages'][number];
export type InferenceParameters = InferenceAnswer['parameters'];
export type FinishReason = InferenceAnswer['choices'][number]['finishReason'];

/** What is asked of a model, its defaults filled in. */
export interface Prompt {
  readonly messages: readonly ChatMessage[];
  readonly maxTokens: number;
  readonly temperature: number;
  readonly seed: number;
}

/** The model that completed a prompt, as exactly as it is known. */
export type ModelIdentity = Pick<InferenceAnswer, 'model' | 'modelVersion' | 'modelDigest' | 'modelSource'>;

export interface Completion {
  readonly content: string;
  readonly finishReason: FinishReason;
  /** Null where the engine did not count. */
  readonly usage: InferenceAnswer['usage'];
  /** With which it was made, limits applied. */
  readonly parameters: InferenceParameters;
  readonly model: ModelIdentity;
}

/** Completes prompts. */
export interface Engine extends AsyncDisposable {
  /** Completions that it makes at one time. */
  readonly atOnce: number;
  /** Why it cannot be asked at present; null where nothing is known against it. */
  readonly trouble: string | null;
  /**
   * Resolves with a completion, or rejects once nothing is done for it any more: with the signal's reason where that
   * was aborted, else with `InferenceError` `unavailable`, `prompt-too-long` or `failed`.
   */
  complete(prompt: Prompt, signal: AbortSignal): Promise<Completion>;
}
