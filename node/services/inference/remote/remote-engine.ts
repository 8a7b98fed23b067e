import Type, { type Static } from 'typebox';
import { hashText, type Sha256Hash } from '../../../../protocol/hash.ts';
import { canonicalize } from '../../../../protocol/json/canonical.ts';
import { parseJson } from '../../../../protocol/json/parse.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { Compile } from '../../../../protocol/shape-check.ts';
import { CountShape, OrNull } from '../../../../protocol/shapes.ts';
import { nativeSuite } from '../../../keys/native-suite.ts';
import { type HttpAnswer, HttpError, type HttpRequest, httpRequest } from '../../../outbound/http-client.ts';
import type { RemoteInferenceConfig } from '../config.ts';
import {
  type Completion,
  type Engine,
  type FinishReason,
  InferenceError,
  type ModelIdentity,
  type Prompt,
} from '../engine.ts';

/** Longer ones are no completions of a thousand tokens. In UTF-16 units. */
const MAX_CONTENT = 32_000;
const MAX_NAME = 256;
const MAX_DEPTH = 16;
const MAX_VALUES = 20_000;
/** The texts go into signed claims. */
const NAME_PATTERN = '^[\\u0020-\\u007e]+$';

const NameShape = Type.String({ minLength: 1, maxLength: MAX_NAME, pattern: NAME_PATTERN });

/** What is read of a chat completion; servers may say more. */
const CompletionShape = Type.Object({
  model: NameShape,
  system_fingerprint: Type.Optional(OrNull(NameShape)),
  choices: Type.Array(
    Type.Object({
      message: Type.Object({
        role: Type.Literal('assistant'),
        content: Type.String({ maxLength: MAX_CONTENT }),
      }),
      finish_reason: Type.Enum(['stop', 'length', 'content_filter']),
    }),
    { minItems: 1 },
  ),
  usage: Type.Optional(
    OrNull(Type.Object({ prompt_tokens: CountShape, completion_tokens: CountShape, total_tokens: CountShape })),
  ),
});
type ServerCompletion = Static<typeof CompletionShape>;

const ModelsShape = Type.Object({ data: Type.Array(Type.Unsafe<JsonObject>(Type.Object({ id: Type.String() }))) });

/** What is read of a refusal because of a prompt that is too long: OpenAI and vLLM, llama.cpp. */
const TooLongShape = Type.Object({
  error: Type.Object({
    code: Type.Optional(Type.Unknown()),
    type: Type.Optional(Type.Unknown()),
    n_prompt_tokens: Type.Optional(CountShape),
    n_ctx: Type.Optional(CountShape),
  }),
});
const TOO_LONG = new Set<unknown>(['context_length_exceeded', 'exceed_context_size_error']);

const completion = Compile(CompletionShape);
const modelList = Compile(ModelsShape);
const tooLong = Compile(TooLongShape);

const FINISH_REASON: Readonly<Record<ServerCompletion['choices'][number]['finish_reason'], FinishReason>> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content-filter',
};

/** Throws where the text is no chat completion. */
function readCompletion(text: string): ServerCompletion {
  const value = read(text);
  if (!completion.Check(value)) throw new TypeError('not a chat completion');
  return value;
}

/**
 * What the server says of the model; undefined where it lists none of this name. Throws where the text is no list of
 * models.
 */
function readModelEntry(text: string, name: string): JsonObject | undefined {
  const value = read(text);
  if (!modelList.Check(value)) throw new TypeError('not a list of models');
  const entry = value.data.find(({ id }) => id === name);
  if (entry === undefined) return undefined;
  // Many servers set these to the time of asking, or to something random.
  const { created: _created, permission: _permission, ...rest } = entry;
  return rest;
}

/**
 * How long the prompt is and may be, where a refusal says that it is too long; undefined where it says another thing.
 */
function readTooLong(text: string) {
  let value: unknown;
  try {
    value = read(text);
  } catch {
    return undefined;
  }
  if (!tooLong.Check(value)) return undefined;
  const { code, type, n_prompt_tokens: promptTokens = null, n_ctx: contextTokens = null } = value.error;
  return TOO_LONG.has(code) || TOO_LONG.has(type) ? { promptTokens, contextTokens } : undefined;
}

function read(text: string): JsonObject {
  const value = parseJson(text, { maxDepth: MAX_DEPTH, maxValues: MAX_VALUES });
  if (!isJsonObject(value)) throw new TypeError('not a JSON object');
  return value;
}

export type RemoteEngineConfig = Pick<RemoteInferenceConfig, 'url' | 'headers' | 'model' | 'version'>;

/** Completions asked of the server at one time: servers batch, and know best how many. */
const AT_ONCE = 4;
const MAX_BYTES = 1 << 20;
const MAX_REFUSAL_BYTES = 16 << 10;
/** Above every time limit that an operator may set, which ends a call by its signal. In milliseconds. */
const COMPLETION_MS = 300_000;
/** How long the list of models may take; the completion does not depend on it. In milliseconds. */
const MODELS_MS = 5_000;
/** Statuses by which a server says that it has no time now, or no such model any more. */
const AWAY = new Set([404, 429, 502, 503, 504]);

/**
 * A server that speaks the chat completions API of OpenAI. What it says of its model cannot be checked: it is attested
 * as what it reported.
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
    const answer = await this.#send('/chat/completions', COMPLETION_MS, { method: 'POST', body, signal }).catch(
      (error: unknown) => {
        signal.throwIfAborted();
        const head = error instanceof HttpError ? error.answer : null;
        if (head === null) throw new InferenceError('unavailable', 'The model cannot be reached.', { cause: error });
        throw head.ok ? error : refusalOf(head.status, '');
      },
    );
    if (answer.ok) return readCompletion(textOf(answer));
    throw refusalOf(answer.status, refusalTextOf(answer));
  }

  /** The list of models; null where there is none to be had. */
  async #models(signal: AbortSignal): Promise<string | null> {
    try {
      const answer = await this.#send('/models', MODELS_MS, { signal });
      return answer.ok ? textOf(answer) : null;
    } catch {
      signal.throwIfAborted();
      return null;
    }
  }

  #send(path: string, timeoutMs: number, request: HttpRequest): Promise<HttpAnswer> {
    const { url, headers } = this.#config;
    // Credentials go to the server that they are for: no redirect is followed.
    return httpRequest(url + path, {
      ...request,
      headers: { ...headers, 'content-type': 'application/json' },
      timeoutMs,
      maxBytes: MAX_BYTES,
    });
  }
}

/** A byte order mark at its start is left out. Throws `TypeError` if it is not UTF-8. */
function textOf({ bytes }: HttpAnswer): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

/** Empty where it is too long, or is not UTF-8. */
function refusalTextOf(answer: HttpAnswer): string {
  if (answer.bytes.byteLength > MAX_REFUSAL_BYTES) return '';
  try {
    return textOf(answer);
  } catch {
    return '';
  }
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
  // A server may answer for a name by a model of another one, as by a dated version of it.
  const entry = models === null ? undefined : entryOf(models, [model, config.model]);
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
