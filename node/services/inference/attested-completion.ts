import type { InferenceAnswer } from '../../../protocol/api/attested-inference.ts';
import { encodeBase64url } from '../../../protocol/bytes.ts';
import { hashText } from '../../../protocol/hash.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { decisionTexts, SALT_BYTES } from '../../../protocol/payload/commitment.ts';
import type { PaidDraft } from '../../intake/draft.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import type { PaidRecording, PreparedRecord } from '../../payments/paid-recording.ts';
import { randomBytesPooled } from '../../keys/randomness.ts';
import { TOY_LABEL } from './config.ts';
import type { ChatMessage, Completion, Prompt } from './engine.ts';
import type { Inference } from './inference.ts';

/** Whose completion is attested, and how. */
export interface Attesting {
  readonly account: string;
  readonly recording: PaidRecording;
  readonly signal: AbortSignal;
}

export interface AttestedCompletion {
  readonly record: PreparedRecord;
  /** Base64url, of all commitments of the record. */
  readonly salt: string;
  readonly completion: InferenceAnswer;
}

const SOURCE = 'meridian/inference';

/** Completes a prompt and attests it. Rejects with the signal's reason and `InferenceError`. */
export async function attestCompletion(
  { account, recording, signal }: Attesting,
  inference: Pick<Inference, 'complete' | 'label'>,
  prompt: Prompt,
): Promise<AttestedCompletion> {
  const completion = answered(await inference.complete(prompt, signal), inference.label);
  const salt = randomBytesPooled(SALT_BYTES);
  const record = await recording.prepareOne({ ...draftOf(prompt.messages, completion), account, salt });
  return { record, salt: encodeBase64url(salt), completion };
}

function answered({ model, content, finishReason, ...more }: Completion, label: string | null): InferenceAnswer {
  const message = { role: 'assistant', content } as const;
  return { ...model, label, toy: label === TOY_LABEL, choices: [{ index: 0, message, finishReason }], ...more };
}

/** Prompt and response go into the payload, which can be erased; of the claims none is personal. */
function draftOf(messages: readonly ChatMessage[], { choices, ...told }: InferenceAnswer): Omit<PaidDraft, 'account'> {
  const [choice] = choices;
  if (choice === undefined) throw new RangeError('a completion has one choice');
  const { message, finishReason } = choice;
  const data = { input: messages.map((one) => ({ ...one })), output: { ...message } };
  return {
    kind: 'inference',
    sourceId: SOURCE,
    payload: canonicalize({ ...told, finishReason, data }),
    decision: decisionTexts(data),
    claims: {
      channel: 'tiered',
      modelId: told.model,
      modelVersion: told.modelVersion,
      modelDigest: told.modelDigest ?? undefined,
      parametersHash: hashText(nativeSuite, canonicalize(told.parameters)),
    },
    links: {},
  };
}
