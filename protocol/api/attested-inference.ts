import Type, { type Static } from 'typebox';
import { objectId } from '../object-ids.ts';
import { Base64urlShape, Closed, CountShape, OrNull, Sha256Shape, TimestampShape } from '../shapes.ts';
import { WarningsShape } from './envelope.ts';
import { EXAMPLE_HASH, EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import { TextShape } from './fields.ts';
import { ObjectIdShape } from './governance-fields.ts';
import { PaidShape, paidTailExample } from './paid-answer.ts';

const ROLES = ['system', 'user', 'assistant'] as const;
const FINISH_REASONS = ['stop', 'length', 'content-filter'] as const;
const MAX_MESSAGES = 50;
const MAX_CONTENT = 16_000;
/** Code points of all messages together. */
export const MAX_PROMPT_CHARACTERS = 32_000;
const MAX_TOKENS = 1_000;
export const DEFAULT_MAX_TOKENS = 256;
const MAX_TEMPERATURE = 2;
export const DEFAULT_TEMPERATURE = 0.7;
/** The one 32-bit number that llama.cpp takes for "choose one" is none of them. */
export const MAX_SEED = 2 ** 32 - 2;

const MessageShape = Closed({ role: Type.Enum([...ROLES]), content: TextShape(1, MAX_CONTENT) });

/**
 * `POST /v1/x402/attested-inference` (api-rules §4.1). The last message is the user's. Closed: a member that would
 * change the completion elsewhere, as `stream` or `tools`, is refused and not ignored.
 */
export const AttestedInferenceRequestShape = Closed({
  messages: Type.Array(MessageShape, { minItems: 1, maxItems: MAX_MESSAGES }),
  max_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_TOKENS, default: DEFAULT_MAX_TOKENS })),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: MAX_TEMPERATURE, default: DEFAULT_TEMPERATURE })),
  seed: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_SEED,
      description: 'Of the sampling. Drawn by the node where it is left out.',
    }),
  ),
});
export type AttestedInferenceRequest = Static<typeof AttestedInferenceRequestShape>;

const AnswerMessageShape = Closed({ role: Type.Literal('assistant'), content: Type.String() });

/** What the engine was told, defaults and limits applied. */
const InferenceParametersShape = Closed({
  maxTokens: CountShape,
  temperature: Type.Number(),
  seed: CountShape,
  contextTokens: Type.Optional(CountShape),
  minP: Type.Optional(Type.Number()),
  topK: Type.Optional(CountShape),
  topP: Type.Optional(Type.Number()),
});

/** How the model is known. */
const ModelSourceShape = Closed({
  engine: Type.Enum(['embedded', 'remote']),
  digestOf: Type.Union([Type.Enum(['weights', 'reported-entry']), Type.Null()], {
    description:
      'What `modelDigest` is the hash of: the file of weights that ran on the node, or the entry that another server gave of the model under `/models` (without `created` and `permission`), which says nothing of its weights.',
  }),
  declaredByOperator: Type.Boolean({
    description: 'Whether the version is what the operator says it is, and not what the node found out.',
  }),
  systemFingerprint: OrNull(Type.String({ description: 'As the other server reported it.' })),
});

const TokenUsageShape = Closed({
  promptTokens: CountShape,
  completionTokens: CountShape,
  totalTokens: CountShape,
});

/** What the answer says of the model and of its work, beside the record. */
export const CompletionShape = Closed({
  model: Type.String(),
  modelVersion: Type.String(),
  modelDigest: OrNull(Sha256Shape),
  modelSource: ModelSourceShape,
  label: OrNull(Type.String({ description: 'What the operator wants known of the model, as `toy`.' })),
  toy: Type.Boolean({ description: 'A model for tests, whose answers are worth nothing.' }),
  choices: Type.Array(
    Closed({
      index: Type.Literal(0),
      message: AnswerMessageShape,
      finishReason: Type.Enum([...FINISH_REASONS]),
    }),
    { minItems: 1, maxItems: 1 },
  ),
  usage: OrNull(TokenUsageShape),
  parameters: InferenceParametersShape,
});
export type InferenceAnswer = Static<typeof CompletionShape>;

/**
 * The hashes that the record claims. Prompt and response are committed to under `salt`, so that who has only the record
 * cannot guess them: SHA-256("meridian/input/1" ‖ 0x00 ‖ salt ‖ RFC 8785 text of `messages`), and with
 * "meridian/output/1" of `choices[0].message`. `parametersHash` is SHA-256 of the RFC 8785 text of `parameters`.
 */
export const BindingShape = Closed({
  promptHash: Sha256Shape,
  responseHash: Sha256Shape,
  salt: Base64urlShape,
  modelId: Type.String(),
  modelVersion: Type.String(),
  modelDigest: OrNull(Sha256Shape),
  parametersHash: Sha256Shape,
  timestamp: TimestampShape,
});

export const AttestedInferenceAnswerShape = PaidShape({
  id: ObjectIdShape,
  ...CompletionShape.properties,
  binding: BindingShape,
  warnings: WarningsShape,
});

const MODEL = {
  model: 'labchat-0.9m',
  modelVersion: `labchat-0.9m@${EXAMPLE_HASH}+node-llama-cpp@3.21.1/llama.cpp@b7062`,
  modelDigest: EXAMPLE_HASH,
};

export const ATTESTED_INFERENCE_EXAMPLE = {
  request: {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'What is the capital of France?' },
    ],
    max_tokens: 64,
    temperature: 0,
    seed: 7,
  },
  answer: {
    success: true,
    id: objectId('inference', EXAMPLE_IDS.decision),
    ...MODEL,
    modelSource: { engine: 'embedded', digestOf: 'weights', declaredByOperator: false, systemFingerprint: null },
    label: 'toy',
    toy: true,
    choices: [
      { index: 0, message: { role: 'assistant', content: 'The capital of France is Paris.' }, finishReason: 'stop' },
    ],
    usage: { promptTokens: 27, completionTokens: 14, totalTokens: 41 },
    parameters: { contextTokens: 512, maxTokens: 64, minP: 0, seed: 7, temperature: 0, topK: 40, topP: 0.95 },
    binding: {
      promptHash: EXAMPLE_HASH,
      responseHash: EXAMPLE_HASH,
      salt: 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg',
      modelId: MODEL.model,
      modelVersion: MODEL.modelVersion,
      modelDigest: MODEL.modelDigest,
      parametersHash: EXAMPLE_HASH,
      timestamp: EXAMPLE_SUBMITTED_AT,
    },
    warnings: ['model: a model for tests, whose answers are worth nothing'],
    ...paidTailExample('0.01'),
  },
};
