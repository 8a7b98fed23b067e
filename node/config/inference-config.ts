import type { InferenceConfig } from '../services/inference/config.ts';
import type { Environment, Variable } from './environment.ts';
import { outgoingHeaders } from './payments-config.ts';
import { ConfigError, positive, protectedUrl, required } from './read-variable.ts';

const REMOTE_VARIABLES = [
  'INFERENCE_MODEL',
  'INFERENCE_VERSION',
  'INFERENCE_TOKEN',
  'INFERENCE_HEADERS',
] as const satisfies readonly Variable[];
const EMBEDDED_VARIABLES = ['MODEL_CONTEXT', 'MODEL_THREADS'] as const satisfies readonly Variable[];
const SHARED_VARIABLES = ['MODEL_LABEL', 'INFERENCE_TIME_LIMIT'] as const satisfies readonly Variable[];

/** In seconds. A payment is held for two minutes while its work is done, so the limit stays below. */
const DEFAULT_TIME_LIMIT_SECONDS = 60;
const MAX_TIME_LIMIT_SECONDS = 110;
/** In tokens: more than the longest prompt that is taken has in most languages would only cost memory. */
const DEFAULT_CONTEXT_TOKENS = 8_192;
/** Threads wait for each other spinning: more of them than idle cores make it hundreds of times slower. */
const DEFAULT_THREADS = 1;
const MAX_TEXT = 256;
/** The texts go into signed claims. */
const PLAIN_TEXT = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Name of a GGUF file whose weights go on in others, which an engine loads by itself. */
const PART_OF_SEVERAL = /-\d{5}-of-(?!00001\.)\d{5}\.gguf$/;

/**
 * Where completions come from; null where neither `INFERENCE_URL` nor `MODEL_PATH` is set.
 *
 * @throws ConfigError naming the variable at fault, never what a secret holds
 */
export function inferenceConfig(environment: Environment): InferenceConfig | null {
  const { INFERENCE_URL: url, MODEL_PATH: path } = environment;
  if (url !== undefined && path !== undefined) throw new ConfigError('one of INFERENCE_URL and MODEL_PATH is enough');
  if (url === undefined) refuse(environment, REMOTE_VARIABLES, 'INFERENCE_URL');
  if (path === undefined) refuse(environment, EMBEDDED_VARIABLES, 'MODEL_PATH');
  if (url === undefined && path === undefined) {
    refuse(environment, SHARED_VARIABLES, 'INFERENCE_URL or MODEL_PATH');
    return null;
  }
  const shared = { label: text(environment, 'MODEL_LABEL'), timeLimitMs: timeLimit(environment) };
  if (path !== undefined) {
    return {
      kind: 'embedded',
      ...shared,
      path: wholeFile(path),
      contextTokens: whole(environment, 'MODEL_CONTEXT', DEFAULT_CONTEXT_TOKENS),
      threads: whole(environment, 'MODEL_THREADS', DEFAULT_THREADS),
    };
  }
  required(environment, 'INFERENCE_MODEL');
  return {
    kind: 'remote',
    ...shared,
    url: serverUrl(environment),
    headers: outgoingHeaders(environment, 'INFERENCE_TOKEN', 'INFERENCE_HEADERS'),
    model: text(environment, 'INFERENCE_MODEL') ?? '',
    version: text(environment, 'INFERENCE_VERSION'),
  };
}

/** The digest that is attested is of this file alone, so all that runs must be in it. Throws `ConfigError`. */
function wholeFile(path: string): string {
  if (!PART_OF_SEVERAL.test(path)) return path;
  throw new ConfigError('MODEL_PATH is one part of several: merge them into one GGUF file, whose digest is attested');
}

function serverUrl(environment: Environment): string {
  const url = protectedUrl(environment, 'INFERENCE_URL');
  if (/[?#]/.test(url)) throw new ConfigError('INFERENCE_URL must not have a query');
  return url;
}

function refuse(environment: Environment, names: readonly Variable[], needed: string): void {
  const stray = names.find((name) => environment[name] !== undefined);
  if (stray !== undefined) throw new ConfigError(`${stray} needs ${needed}`);
}

function timeLimit(environment: Environment): number {
  const seconds = positive(environment, 'INFERENCE_TIME_LIMIT', DEFAULT_TIME_LIMIT_SECONDS);
  if (seconds > MAX_TIME_LIMIT_SECONDS) {
    throw new ConfigError(`INFERENCE_TIME_LIMIT is at most ${MAX_TIME_LIMIT_SECONDS} seconds`);
  }
  return seconds * 1000;
}

function whole(environment: Environment, name: Variable, otherwise: number): number {
  const value = positive(environment, name, otherwise);
  if (!Number.isInteger(value)) throw new ConfigError(`${name} is not a whole number`);
  return value;
}

function text(environment: Environment, name: Variable): string | null {
  const value = environment[name];
  if (value === undefined) return null;
  if (value.length > MAX_TEXT || !PLAIN_TEXT.test(value)) {
    throw new ConfigError(`${name} is not a plain text of at most ${MAX_TEXT} characters`);
  }
  return value;
}
