/** Where completions come from. Times in milliseconds. */
export type InferenceConfig = RemoteInferenceConfig | EmbeddedInferenceConfig;

interface SharedConfig {
  /** What every answer must say of the model; null where there is nothing to say. */
  readonly label: string | null;
  /** Of one completion, from the moment that it is asked for. */
  readonly timeLimitMs: number;
}

/** Another server, which speaks the chat completions API of OpenAI. */
export interface RemoteInferenceConfig extends SharedConfig {
  readonly kind: 'remote';
  /** Address that `/chat/completions` and `/models` stand below, without a slash at its end. */
  readonly url: string;
  /** Sent with every request; they may hold credentials. */
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
  /** What the operator says the exact version is; null where only what the server reports is known. */
  readonly version: string | null;
}

/** A file of weights that runs on this machine. */
export interface EmbeddedInferenceConfig extends SharedConfig {
  readonly kind: 'embedded';
  /** A GGUF file. */
  readonly path: string;
  /** Most tokens of prompt and completion together; fewer where the model was trained for fewer. */
  readonly contextTokens: number;
  readonly threads: number;
}

/** Says that a model is for tests, and that its answers are worth nothing. */
export const TOY_LABEL = 'toy';
