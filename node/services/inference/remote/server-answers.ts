import Type, { type Static } from 'typebox';
import { Compile } from '../../../../protocol/shape-check.ts';
import { parseJson } from '../../../../protocol/json/parse.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { CountShape, OrNull } from '../../../../protocol/shapes.ts';
import type { FinishReason } from '../engine.ts';

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
export type ServerCompletion = Static<typeof CompletionShape>;

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
const models = Compile(ModelsShape);
const tooLong = Compile(TooLongShape);

export const FINISH_REASON: Readonly<Record<ServerCompletion['choices'][number]['finish_reason'], FinishReason>> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content-filter',
};

/** Throws where the text is no chat completion. */
export function readCompletion(text: string): ServerCompletion {
  const value = read(text);
  if (!completion.Check(value)) throw new TypeError('not a chat completion');
  return value;
}

/** What the server says of the model; undefined where it lists none of this name. Throws where the text is no list of models. */
export function readModelEntry(text: string, name: string): JsonObject | undefined {
  const value = read(text);
  if (!models.Check(value)) throw new TypeError('not a list of models');
  const entry = value.data.find(({ id }) => id === name);
  if (entry === undefined) return undefined;
  // Many servers set these to the time of asking, or to something random.
  const { created: _created, permission: _permission, ...rest } = entry;
  return rest;
}

/** How long the prompt is and may be, where a refusal says that it is too long; undefined where it says another thing. */
export function readTooLong(text: string) {
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
