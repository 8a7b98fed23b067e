import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../../../node/keys/native-suite.ts';
import { InferenceError, type ModelIdentity } from '../../../../../node/services/inference/engine.ts';
import { RemoteEngine, type RemoteEngineConfig } from '../../../../../node/services/inference/remote/remote-engine.ts';
import { hashText } from '../../../../../protocol/hash.ts';
import { canonicalize } from '../../../../../protocol/json/canonical.ts';
import {
  type Behaviour,
  chatCompletion,
  CompletionServer,
  ENTRY,
  json,
} from '../../../../fixtures/completion-server.ts';
import { ask, PATIENT } from '../../../../fixtures/toy-model.ts';
import { until } from '../../../../fixtures/until.ts';

const server = await CompletionServer.start();
const { complete, models } = server;

test.before.each(() => {
  Object.assign(server, { complete, models, left: 0 });
  server.seen.length = 0;
});
test.after(() => server[Symbol.asyncDispose]());

function engineOf(more: Partial<RemoteEngineConfig> = {}): RemoteEngine {
  return new RemoteEngine({ url: server.url, headers: {}, model: 'big-model', version: null, ...more });
}

async function errorOf(engine = engineOf()): Promise<InferenceError> {
  try {
    await engine.complete(ask('Capital of France?'), PATIENT);
  } catch (error) {
    if (error instanceof InferenceError) return error;
    throw error;
  }
  throw new Error('it completed');
}

async function identityOf(more: Partial<RemoteEngineConfig> = {}): Promise<ModelIdentity> {
  return (await engineOf(more).complete(ask('Capital of France?'), PATIENT)).model;
}

const choice = (message: object, reason: unknown = 'stop') => ({
  choices: [{ index: 0, message: { ...message }, finish_reason: String(reason) }],
});

test('it asks as it was told to, with the credentials, and hands on what was answered', async () => {
  const engine = engineOf({ headers: { authorization: 'Bearer secret' } });
  const { content, finishReason, usage, parameters } = await engine.complete(
    ask('Capital of France?', { temperature: 1.5, seed: 42, maxTokens: 7 }),
    PATIENT,
  );
  assert.equal([content, finishReason], ['Paris.', 'stop']);
  assert.equal(usage, { promptTokens: 9, completionTokens: 3, totalTokens: 12 });
  assert.equal(parameters, { maxTokens: 7, temperature: 1.5, seed: 42 });
  const asked = server.seen.find(({ path }) => path === '/v1/chat/completions');
  assert.equal(asked?.body, {
    model: 'big-model',
    messages: [{ role: 'user', content: 'Capital of France?' }],
    max_tokens: 7,
    temperature: 1.5,
    seed: 42,
    stream: false,
  });
  assert.equal(new Set(server.seen.map(({ headers }) => headers.authorization)), new Set(['Bearer secret']));
});

test('what is attested is what was reported: name, fingerprint, and the entry but for what changes by the hour', async () => {
  const digest = hashText(nativeSuite, canonicalize(ENTRY));
  assert.equal(await identityOf(), {
    model: 'big-model',
    modelVersion: 'big-model@fp_44709d6fcb',
    modelDigest: digest,
    modelSource: {
      engine: 'remote',
      digestOf: 'reported-entry',
      declaredByOperator: false,
      systemFingerprint: 'fp_44709d6fcb',
    },
  });
  const declared = await identityOf({ version: 'big-model 2026-10-01, weights of the vendor' });
  assert.is(declared.modelVersion, 'big-model 2026-10-01, weights of the vendor');
  assert.is(declared.modelSource.declaredByOperator, true);
});

test('of two entries the one of the model that answered is attested, not that of the name it was asked by', async () => {
  const dated = { ...ENTRY, id: 'big-model-2026-10-01' };
  server.complete = json(200, chatCompletion({ model: dated.id }));
  server.models = json(200, { data: [ENTRY, dated] });
  const { model, modelDigest } = await identityOf();
  assert.equal([model, modelDigest], [dated.id, hashText(nativeSuite, canonicalize(dated))]);
  server.models = json(200, { data: [ENTRY] });
  assert.is(
    (await identityOf()).modelDigest,
    hashText(nativeSuite, canonicalize(ENTRY)),
    'the only one that is listed',
  );
});

test('a server that says little is attested as saying little', async () => {
  server.complete = json(200, { model: 'x', ...choice({ role: 'assistant', content: '' }, 'length') });
  for (const silent of [json(404, {}), json(200, { data: 7 }), json(200, { data: [] })]) {
    server.models = silent;
    const { model, modelDigest, modelVersion, modelSource } = await identityOf();
    assert.equal([model, modelDigest, modelVersion], ['x', null, 'x@unreported']);
    assert.is(modelSource.digestOf, null);
  }
  const { usage, finishReason } = await engineOf().complete(ask('?'), PATIENT);
  assert.equal([usage, finishReason], [null, 'length']);
});

test('a prompt that is too long for the server is said to be, with what it tells of it', async () => {
  server.complete = json(400, { error: { code: 'context_length_exceeded', message: 'too long', type: 'invalid' } });
  assert.equal([(await errorOf()).code, (await errorOf()).counts.promptTokens], ['prompt-too-long', null]);
  server.complete = json(400, {
    error: { code: 400, type: 'exceed_context_size_error', n_prompt_tokens: 9_000, n_ctx: 8_192 },
  });
  assert.equal((await errorOf()).counts, { promptTokens: 9_000, contextTokens: 8_192 });
});

const unusable: Readonly<Record<string, Behaviour>> = {
  'an internal error': json(500, { error: { message: 'CUDA out of memory' } }),
  'refused credentials': json(401, {}),
  'another refusal': json(400, { error: { code: 'invalid_value' } }),
  'no JSON': (response) => response.end('<html>'),
  'no JSON object': (response) => response.end('[]'),
  'two members of one name': (response) => response.end('{"model":"a","model":"b","choices":[]}'),
  'half an answer': (response) => {
    response.writeHead(200, { 'content-length': '4000' }).write('{"model"');
    setTimeout(() => response.destroy(), 20);
  },
  'no choice': json(200, chatCompletion({ choices: [] })),
  'no text': json(200, chatCompletion(choice({ role: 'assistant', content: null }))),
  'another role': json(200, chatCompletion(choice({ role: 'user', content: 'x' }))),
  'an unknown end': json(200, chatCompletion(choice({ role: 'assistant', content: 'x' }, 'tool_calls'))),
  'a name with a line feed': json(200, chatCompletion({ model: 'a\nb' })),
  'counts that are none': json(
    200,
    chatCompletion({ usage: { prompt_tokens: -1, completion_tokens: 1, total_tokens: 0 } }),
  ),
  'a text that is far too long': json(200, chatCompletion(choice({ role: 'assistant', content: 'x'.repeat(40_000) }))),
  'no UTF-8': (response) => response.end(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])),
  'a redirection': (response) => response.writeHead(307, { location: '/v1/models' }).end(),
};
for (const [what, behaviour] of Object.entries(unusable)) {
  test(`nothing is made of ${what}`, async () => {
    server.complete = behaviour;
    const error = await errorOf();
    assert.ok(['failed', 'unavailable'].includes(error.code));
    assert.not.match(error.message, /CUDA|html/, 'what a server says is not for callers');
  });
}

test('an endless answer is read no further than a megabyte', async () => {
  let sent = 0;
  server.complete = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = (): void => {
      while (!response.destroyed && response.write(' '.repeat(64 << 10))) sent += 64 << 10;
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  };
  assert.is((await errorOf()).code, 'failed');
  await until('the connection is cut', () => server.left > 0);
  assert.ok(sent < 16 << 20, `${sent} bytes`);
});

test('a byte order mark before an answer does no harm', async () => {
  server.complete = (response) => response.end(`\ufeff${JSON.stringify(chatCompletion({}))}`);
  assert.is((await engineOf().complete(ask('Capital of France?'), PATIENT)).content, 'Paris.');
});

test('a server that is away or busy is unavailable', async () => {
  for (const status of [404, 429, 502, 503]) {
    server.complete = json(status, {});
    assert.is((await errorOf()).code, 'unavailable');
  }
  assert.is((await errorOf(engineOf({ url: 'http://127.0.0.1:9/v1' }))).code, 'unavailable');
});

test('a server that hangs is left when the caller is, and when the node ends', async () => {
  server.complete = () => {};
  const wanted = new AbortController();
  const engine = engineOf();
  const given = engine.complete(ask('?'), wanted.signal).catch((error: unknown) => error);
  await until('it was asked', () => server.seen.some(({ path }) => path === '/v1/chat/completions'));
  wanted.abort('gone');
  assert.is(await given, 'gone');
  await until('the connection is cut', () => server.left === 1);
  const last = engine.complete(ask('?'), PATIENT).catch((error: unknown) => error);
  await engine[Symbol.asyncDispose]();
  assert.instance(await last, InferenceError);
});

test('a list of models that hangs does not outlast the caller', async () => {
  server.models = () => {};
  const wanted = new AbortController();
  const given = engineOf()
    .complete(ask('?'), wanted.signal)
    .catch((error: unknown) => error);
  setTimeout(() => wanted.abort('gone'), 50);
  assert.is(await given, 'gone');
});

test.run();
