import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Environment } from '../../../node/config/environment.ts';
import type { InferenceConfig } from '../../../node/services/inference/config.ts';
import { configWith, refusalOf } from './settings.ts';

const REMOTE: Environment = { INFERENCE_URL: 'https://models.example.test/v1/', INFERENCE_MODEL: 'big-model' };
const EMBEDDED: Environment = { MODEL_PATH: '/models/small.gguf' };

function inferenceOf(variables: Environment): InferenceConfig | null {
  return configWith(variables).inference;
}

test('a node without the variables has no model', () => {
  assert.is(inferenceOf({}), null);
});

test('a server by its address, with what it must be told and what its operator says of it', () => {
  assert.equal(inferenceOf(REMOTE), {
    kind: 'remote',
    url: 'https://models.example.test/v1',
    headers: {},
    model: 'big-model',
    version: null,
    label: null,
    timeLimitMs: 60_000,
  });
  const more = inferenceOf({
    ...REMOTE,
    INFERENCE_URL: 'http://127.0.0.1:8080/v1',
    INFERENCE_TOKEN: 'secret',
    INFERENCE_HEADERS: '{"X-Tenant":"meridian"}',
    INFERENCE_VERSION: 'big-model 2026-10-01',
    INFERENCE_TIME_LIMIT: '20',
    MODEL_LABEL: 'preview',
  });
  assert.is(more?.kind, 'remote');
  if (more?.kind !== 'remote') return;
  assert.equal(more.headers, { 'x-tenant': 'meridian', authorization: 'Bearer secret' });
  assert.equal([more.version, more.label, more.timeLimitMs], ['big-model 2026-10-01', 'preview', 20_000]);
});

test('a file of weights by its path', () => {
  assert.equal(inferenceOf({ ...EMBEDDED, MODEL_LABEL: 'toy', MODEL_CONTEXT: '4096', MODEL_THREADS: '8' }), {
    kind: 'embedded',
    path: '/models/small.gguf',
    contextTokens: 4096,
    threads: 8,
    label: 'toy',
    timeLimitMs: 60_000,
  });
  const plain = inferenceOf(EMBEDDED);
  assert.is(plain?.kind === 'embedded' && plain.threads, 1);
  assert.is(
    inferenceOf({ MODEL_PATH: '/models/small-00001-of-00001.gguf' })?.kind,
    'embedded',
    'all of it in one file',
  );
});

test('what does not fit together is refused by name, and no secret is told', () => {
  const token = 'very secret';
  const refused: readonly (readonly [RegExp, Environment])[] = [
    [/INFERENCE_URL and MODEL_PATH/, { ...REMOTE, ...EMBEDDED }],
    [/INFERENCE_MODEL is not set/, { INFERENCE_URL: 'https://models.example.test' }],
    [/INFERENCE_TOKEN needs INFERENCE_URL/, { ...EMBEDDED, INFERENCE_TOKEN: token }],
    [/MODEL_CONTEXT needs MODEL_PATH/, { ...REMOTE, MODEL_CONTEXT: '1' }],
    [/MODEL_PATH is one part of several/, { MODEL_PATH: '/models/large-00001-of-00003.gguf' }],
    [/MODEL_LABEL needs INFERENCE_URL or MODEL_PATH/, { MODEL_LABEL: 'toy' }],
    [/INFERENCE_URL needs https/, { ...REMOTE, INFERENCE_URL: 'http://models.example.test/v1' }],
    [/INFERENCE_URL must not hold a user/, { ...REMOTE, INFERENCE_URL: 'https://a:b@models.example.test' }],
    [/INFERENCE_URL must not have a query/, { ...REMOTE, INFERENCE_URL: 'https://models.example.test/v1?key=1' }],
    [/INFERENCE_URL is not/, { ...REMOTE, INFERENCE_URL: 'models' }],
    [/INFERENCE_TIME_LIMIT is at most/, { ...EMBEDDED, INFERENCE_TIME_LIMIT: '111' }],
    [/INFERENCE_TIME_LIMIT is not a positive/, { ...EMBEDDED, INFERENCE_TIME_LIMIT: '-1' }],
    [/MODEL_THREADS is not a whole/, { ...EMBEDDED, MODEL_THREADS: '1.5' }],
    [/INFERENCE_VERSION is not a plain text/, { ...REMOTE, INFERENCE_VERSION: 'a\nb' }],
    [/INFERENCE_TOKEN has characters/, { ...REMOTE, INFERENCE_TOKEN: `${token}\n` }],
    [/INFERENCE_HEADERS is not a JSON object/, { ...REMOTE, INFERENCE_HEADERS: token }],
    [/INFERENCE_HEADERS: "host" is no header/, { ...REMOTE, INFERENCE_HEADERS: `{"host":"${token}"}` }],
  ];
  for (const [expected, variables] of refused) {
    const refusal = refusalOf(variables);
    assert.match(refusal, expected);
    assert.not.match(refusal, token);
  }
});

test.run();
