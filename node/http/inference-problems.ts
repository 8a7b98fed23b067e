import type { InferenceError, InferenceErrorCode } from '../services/inference/inference-error.ts';
import { fieldError, Problem } from './problem.ts';

/** When a caller may come again: to a line that is full, to an engine that failed, to a model that is not there. In seconds. */
const BUSY_SECONDS = 2;
const FAILED_SECONDS = 5;
const UNAVAILABLE_SECONDS = 15;

/** A prompt without a completion, in the words of the API. */
export function inferenceProblem(error: InferenceError): Problem {
  const { message, counts } = error;
  const unavailable = (seconds: number): Problem => new Problem('model-unavailable', message, later(seconds, error));
  const problems: Readonly<Record<InferenceErrorCode, () => Problem>> = {
    unavailable: () => unavailable(UNAVAILABLE_SECONDS),
    failed: () => unavailable(FAILED_SECONDS),
    'timed-out': () => unavailable(FAILED_SECONDS),
    busy: () => new Problem('model-busy', message, later(BUSY_SECONDS, error)),
    'prompt-too-long': () =>
      new Problem('prompt-too-long', message, {
        errors: [fieldError(['messages'], 'too-long', message)],
        extra: { ...counts },
      }),
  };
  return problems[error.code]();
}

function later(seconds: number, cause: unknown) {
  return { headers: { 'Retry-After': String(seconds) }, cause };
}
