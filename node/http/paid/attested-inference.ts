import { randomInt } from 'node:crypto';
import type { Static } from 'typebox';
import {
  ATTESTED_INFERENCE_EXAMPLE,
  AttestedInferenceAnswerShape,
  type AttestedInferenceRequest,
  AttestedInferenceRequestShape,
  type BindingShape,
  type CompletionShape,
  DEFAULT_MAX_TOKENS,
  DEFAULT_TEMPERATURE,
  MAX_PROMPT_CHARACTERS,
  MAX_SEED,
} from '../../../protocol/api/attested-inference.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import type { Blank } from '../../payments/answer-draft.ts';
import { attestCompletion, type AttestedCompletion } from '../../services/inference/attested-completion.ts';
import type { Prompt } from '../../services/inference/engine.ts';
import type { Inference } from '../../services/inference/inference.ts';
import { fieldError, Problem } from '../problem.ts';
import type { PaidRoute } from '../route.ts';
import { validator } from '../validation.ts';
import { ATTESTATION_BLANKS, attestationTail, type VerifyUrl } from './attested-summary.ts';

export interface InferenceServices {
  readonly verifyUrl: VerifyUrl;
  readonly inference: Pick<Inference, 'complete' | 'requireReady' | 'label'>;
}

/** Of the answer, what is known once the record is made. */
const BLANKS: readonly Blank[] = [...ATTESTATION_BLANKS, { at: ['binding', 'timestamp'], is: 'submittedAt' }];

const TOY_WARNING = 'model: a model for tests, whose answers are worth nothing';

const validate = validator(AttestedInferenceRequestShape);

/**
 * `POST /v1/x402/attested-inference` (api-rules §4.1): a chat completion, and a record that binds prompt,
 * response, model and parameters.
 */
export function attestedInferenceRoute({ inference, verifyUrl }: InferenceServices): PaidRoute {
  return {
    method: 'POST',
    path: '/v1/x402/attested-inference',
    access: 'paid',
    service: 'attested-inference',
    documentation: {
      summary: 'Completes a chat, and attests prompt, response and exact model',
      description:
        'The last message is the user’s, and all together have at most 32,000 characters. Text that looks like a ' +
        'control token of the model is text. With temperature 0 the same request gives the same completion; `seed` is ' +
        'drawn where it is left out, and said in `parameters`. Members that are not named here are refused. ' +
        'To check the binding: `promptHash` is the SHA-256 of `meridian/input/1`, a zero byte, the bytes of `salt` and ' +
        'the canonical JSON (RFC 8785) of `messages`, in UTF-8; `responseHash` that of `meridian/output/1`, a zero ' +
        'byte, `salt` and the canonical JSON of `choices[0].message`; `parametersHash` the SHA-256 of the canonical ' +
        'JSON of `parameters`, without a salt. They are `inputHash`, `outputHash` and `parametersHash` of the record. ' +
        'Its payload is the canonical JSON of what is answered of model, label, usage and parameters, with ' +
        '`finishReason` and `data`: `{input, output}`, the messages and the response. It is kept encrypted, and can ' +
        'be erased without the record. A model that is labelled `toy` is for tests, and its answers are worth nothing. ' +
        'What is refused, or given up because the caller went away, is not charged.',
      request: { shape: AttestedInferenceRequestShape, example: ATTESTED_INFERENCE_EXAMPLE.request },
      answer: { shape: AttestedInferenceAnswerShape, example: ATTESTED_INFERENCE_EXAMPLE.answer },
      problems: ['prompt-too-long', 'model-busy', 'model-unavailable', 'queue-full'],
    },
    requireReady() {
      inference.requireReady();
    },
    prepare(_call, body) {
      const request = validate(body);
      requireConversation(request);
      return async (paid) => {
        const attested = await attestCompletion(paid, inference, promptOf(request));
        return { body: answerOf(attested, verifyUrl), blanks: BLANKS };
      };
    },
  };
}

function promptOf({ messages, max_tokens: maxTokens, temperature, seed }: AttestedInferenceRequest): Prompt {
  return {
    messages,
    maxTokens: maxTokens ?? DEFAULT_MAX_TOKENS,
    temperature: temperature ?? DEFAULT_TEMPERATURE,
    seed: seed ?? randomInt(MAX_SEED + 1),
  };
}

function answerOf({ record, salt, completion }: AttestedCompletion, verifyUrl: VerifyUrl): JsonObject {
  const { inputHash, outputHash, parametersHash } = record.claims;
  if (inputHash === undefined || outputHash === undefined || parametersHash === undefined) {
    throw new RangeError('a record of an inference claims its hashes');
  }
  const { model, modelVersion, modelDigest } = completion;
  const binding: Record<keyof Static<typeof BindingShape>, string | null> = {
    promptHash: inputHash,
    responseHash: outputHash,
    salt,
    modelId: model,
    modelVersion,
    modelDigest,
    parametersHash,
    timestamp: null,
  };
  const members: Static<typeof CompletionShape> = completion;
  return {
    success: true,
    id: objectId('inference', record.id),
    ...members,
    binding,
    warnings: completion.toy ? [TOY_WARNING] : [],
    attestation: attestationTail(record, verifyUrl),
  };
}

function requireConversation({ messages }: AttestedInferenceRequest): void {
  const last = messages.length - 1;
  if (messages[last]?.role !== 'user') {
    throw refusal(['messages', last, 'role'], 'last-role', 'must be user: the last message is what is to be answered');
  }
  // A code point has at most two UTF-16 units, and at least one.
  const units = messages.reduce((sum, { content }) => sum + content.length, 0);
  if (units <= MAX_PROMPT_CHARACTERS) return;
  const characters = messages.reduce((sum, { content }) => sum + [...content].length, 0);
  if (characters > MAX_PROMPT_CHARACTERS) {
    throw refusal(['messages'], 'too-long', `has ${characters} characters in all, over ${MAX_PROMPT_CHARACTERS}`);
  }
}

function refusal(path: readonly (string | number)[], code: string, message: string): Problem {
  const error = fieldError(path, code, message);
  return new Problem('invalid-field', `${error.field} ${message}`, { errors: [error] });
}
