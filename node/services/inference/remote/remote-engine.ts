import type { Sha256Hash } from '../../../../protocol/hash.ts';
import { hashText } from '../../../../protocol/hash.ts';
import { canonicalize } from '../../../../protocol/json/canonical.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { cappedBytes } from '../../../outbound/capped-body.ts';
import { nativeSuite } from '../../../keys/native-suite.ts';
import type { RemoteInferenceConfig } from '../config.ts';
import type { Completion, Engine, ModelIdentity, Prompt } from '../engine.ts';
import { InferenceError } from '../inference-error.ts';
import { FINISH_REASON, readCompletion, readModelEntry, readTooLong, type ServerCompletion } from './server-answers.ts';

export type RemoteEngineConfig = Pick<RemoteInferenceConfig, 'url' | 'headers' | 'model' | 'version'>;

/** Completions asked of the server at one time: servers batch, and know best how many. */
const AT_ONCE = 4;
const MAX_BYTES = 1 << 20;
const MAX_REFUSAL_BYTES = 16 << 10;
/** How long the list of models may take; the completion does not depend on it. In milliseconds. */
const MODELS_MS = 5_000;
/** Statuses by which a server says that it has no time now, or no such model any more. */
const AWAY = new Set([404, 429, 502, 503, 504]);

/**
 * A server that speaks the chat completions API of OpenAI. What it says of its model cannot be checked: it is attested as
 * what it reported.
 */
export class RemoteEngine implements Engine {
  readonly atOnce = AT_ONCE;
  readonly trouble = null;
  readonly #config: RemoteEngineConfig;
  readonly #over = new AbortController();

  constructor(config: RemoteEngineConfig) {
    this.#config = config;
  }

  async complete(prompt: Prompt, signal: AbortSignal): Promise<Completion> {
    const either = AbortSignal.any([signal, this.#over.signal]);
    try {
      const [answer, models] = await Promise.all([this.#ask(prompt, either), this.#models(either)]);
      return completionOf(answer, prompt, identityOf(answer, models, this.#config));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof InferenceError) throw error;
      throw new InferenceError('failed', 'The model gave no answer that can be used.', { cause: error });
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    return Promise.resolve();
  }

  async #ask({ messages, maxTokens, temperature, seed }: Prompt, signal: AbortSignal): Promise<ServerCompletion> {
    const { model } = this.#config;
    const body = JSON.stringify({ model, messages, max_tokens: maxTokens, temperature, seed, stream: false });
    const response = await this.#fetch('/chat/completions', { method: 'POST', body, signal }).catch(
      (error: unknown) => {
        signal.throwIfAborted();
        throw new InferenceError('unavailable', 'The model cannot be reached.', { cause: error });
      },
    );
    if (response.ok) return readCompletion(await textOf(response, MAX_BYTES));
    throw refusalOf(response.status, await textOf(response, MAX_REFUSAL_BYTES).catch(() => ''));
  }

  /** The list of models; null where there is none to be had. */
  async #models(signal: AbortSignal): Promise<string | null> {
    const soon = AbortSignal.any([signal, AbortSignal.timeout(MODELS_MS)]);
    try {
      const response = await this.#fetch('/models', { signal: soon });
      const text = await textOf(response, MAX_BYTES);
      return response.ok ? text : null;
    } catch {
      signal.throwIfAborted();
      return null;
    }
  }

  #fetch(path: string, init: RequestInit): Promise<Response> {
    const { url, headers } = this.#config;
    // Credentials go to the server that they are for, and to none that it names.
    return fetch(url + path, {
      ...init,
      redirect: 'error',
      headers: { ...headers, 'content-type': 'application/json' },
    });
  }
}

/** A byte order mark at its start is left out. Throws `BodyTooLargeError`, and `TypeError` where it is no UTF-8. */
async function textOf(response: Response, maxBytes: number): Promise<string> {
  return new TextDecoder('utf-8', { fatal: true }).decode(await cappedBytes(response, maxBytes));
}

function refusalOf(status: number, text: string): InferenceError {
  const counts = status === 400 ? readTooLong(text) : undefined;
  if (counts !== undefined) {
    return new InferenceError('prompt-too-long', 'The prompt is longer than the model takes.', { counts });
  }
  const cause = `the server answered ${status}`;
  if (AWAY.has(status)) return new InferenceError('unavailable', 'The model is not there at present.', { cause });
  return new InferenceError('failed', 'The model gave no answer that can be used.', { cause });
}

function identityOf(
  { model, system_fingerprint: fingerprint = null }: ServerCompletion,
  models: string | null,
  config: RemoteEngineConfig,
): ModelIdentity {
  const entry = models === null ? undefined : entryOf(models, [config.model, model]);
  const digest = entry === undefined ? null : digestOf(entry);
  return {
    model,
    modelVersion: config.version ?? `${model}@${fingerprint ?? digest ?? 'unreported'}`,
    modelDigest: digest,
    modelSource: {
      engine: 'remote',
      digestOf: digest === null ? null : 'reported-entry',
      declaredByOperator: config.version !== null,
      systemFingerprint: fingerprint,
    },
  };
}

function entryOf(models: string, names: readonly string[]): JsonObject | undefined {
  try {
    return names.map((name) => readModelEntry(models, name)).find((entry) => entry !== undefined);
  } catch {
    return undefined;
  }
}

function digestOf(entry: JsonObject): Sha256Hash {
  return hashText(nativeSuite, canonicalize(entry));
}

function completionOf(answer: ServerCompletion, prompt: Prompt, model: ModelIdentity): Completion {
  const { maxTokens, temperature, seed } = prompt;
  const { choices, usage = null } = answer;
  const [choice] = choices;
  if (choice === undefined) throw new TypeError('no choice');
  return {
    content: choice.message.content,
    finishReason: FINISH_REASON[choice.finish_reason],
    usage: usage && {
      promptTokens: usage.prompt_tokens,
      completionTokens: usage.completion_tokens,
      totalTokens: usage.total_tokens,
    },
    parameters: { maxTokens, temperature, seed },
    model,
  };
}
