import pino from 'pino';
import { Compile } from 'typebox/compile';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { paymentDraftTable } from '../../../../node/payments/payment-tables.ts';
import { InferenceError } from '../../../../node/services/inference/engine.ts';
import { Inference } from '../../../../node/services/inference/inference.ts';
import {
  ATTESTED_INFERENCE_EXAMPLE,
  AttestedInferenceAnswerShape,
} from '../../../../protocol/api/attested-inference.ts';
import { decodeBase64url } from '../../../../protocol/bytes.ts';
import { hashText } from '../../../../protocol/hash.ts';
import { canonicalize } from '../../../../protocol/json/canonical.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { commit } from '../../../../protocol/payload/commitment.ts';
import { payingFetch } from '../../../fixtures/chain-payer.ts';
import { TestChain } from '../../../fixtures/chain.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { TOY_DIGEST, TOY_MODEL } from '../../../fixtures/toy-model.ts';
import { until } from '../../../fixtures/until.ts';
import { PayingCaller } from './paying-caller.ts';

const chain = await TestChain.start({ isDurable: true });
const network = await TestNetwork.start({ config: { payments: chain.config(), inference: TOY_MODEL } });
const node = network.node();
const answerShape = Compile(AttestedInferenceAnswerShape);

test.after(async () => {
  await network[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});

const caller = new PayingCaller(chain, node, 'attested-inference');
const { path, price } = caller;
const earned = caller.earned.bind(caller);
const header = caller.payment.bind(caller);
const show = caller.post.bind(caller);

function user(content: string, more: JsonObject = {}): JsonObject {
  return { messages: [{ role: 'user', content }], temperature: 0, max_tokens: 40, ...more };
}

/** Puts something else in the place of the model for a while. */
async function instead(complete: Inference['complete'], work: () => Promise<void>): Promise<void> {
  const { inference } = node.context;
  Object.assign(inference, { complete });
  try {
    await work();
  } finally {
    Reflect.deleteProperty(inference, 'complete');
  }
}

test('the stock client buys a completion for exactly its price, and can check all that it is bound to', async () => {
  const { request } = ATTESTED_INFERENCE_EXAMPLE;
  let body: JsonObject = {};
  const gain = await earned(async () => {
    const answer = await payingFetch(await chain.wallet())(node.baseUrl + path, {
      method: 'POST',
      body: JSON.stringify(request),
      headers: { 'content-type': 'application/json' },
    });
    assert.is(answer.status, 200);
    const value: unknown = await answer.json();
    assert.ok(isJsonObject(value));
    body = value;
  });
  assert.is(gain, price);
  assert.ok(answerShape.Check(body));
  assert.equal([body.toy, body.label, body.model], [true, 'toy', 'labchat-0.9m']);
  assert.equal(body.warnings, ['model: a model for tests, whose answers are worth nothing']);
  const { choices, binding, parameters, attestation, usage } = Object(body);
  const { message, finishReason } = choices[0];
  assert.equal([message.content, finishReason], ['The capital of France is Paris.', 'stop']);
  assert.ok(usage.totalTokens > 30);
  assert.equal([parameters.seed, parameters.maxTokens, parameters.temperature], [7, 64, 0]);
  const salt = decodeBase64url(binding.salt);
  assert.is(binding.promptHash, commit(nativeSuite, 'meridian/input/1', salt, request.messages));
  assert.is(binding.responseHash, commit(nativeSuite, 'meridian/output/1', salt, message));
  assert.is(binding.parametersHash, hashText(nativeSuite, canonicalize(parameters)));
  assert.equal([binding.modelDigest, binding.modelId], [TOY_DIGEST, body.model]);
  const { data, ...told } = {
    ...Object.fromEntries(
      ['model', 'modelVersion', 'modelDigest', 'modelSource', 'label', 'toy', 'usage', 'parameters'].map((name) => [
        name,
        body[name] ?? null,
      ]),
    ),
    finishReason,
    data: { input: request.messages, output: message },
  };
  assert.is(attestation.payloadHash, commit(nativeSuite, 'meridian/payload/1', salt, { ...told, data }));
  const { record } = (await node.context.evidence(attestation.attestationId)) ?? {};
  assert.equal(record?.kind, 'inference');
  const { inputHash, outputHash, modelVersion, modelDigest, parametersHash } = record?.claims ?? {};
  assert.equal(
    [inputHash, outputHash, modelVersion, modelDigest, parametersHash],
    [binding.promptHash, binding.responseHash, body.modelVersion, TOY_DIGEST, binding.parametersHash],
  );
  assert.not.match(JSON.stringify(record), /France|Paris/, 'no word of it is signed in clear');
});

test('without a seed one is drawn, said, and draws the same again', async () => {
  const warm = user('Tell me a story about 1 fox', { temperature: 2 });
  const first = Object((await show(await header(), warm)).body);
  const { seed } = first.parameters;
  const again = Object((await show(await header(), { ...warm, seed })).body);
  assert.equal(again.choices, first.choices);
  assert.is.not(Object((await show(await header(), warm)).body).parameters.seed, seed);
});

test('the same payment gets the same completion, and pays once', async () => {
  const payment = await header();
  const warm = user('Tell me a story about 1 fox', { temperature: 2 });
  const gain = await earned(async () => {
    const [one, duplicate] = await Promise.all([show(payment, warm), show(payment, warm)]);
    const later = await show(payment, warm);
    assert.equal([one.status, duplicate.status, later.status], [200, 200, 200]);
    assert.equal([duplicate.text, later.text], [one.text, one.text]);
    assert.is((await show(payment, user('another'))).status, 409);
  });
  assert.is(gain, price);
});

test('what does not fit is refused before the model is asked, and costs nothing', async () => {
  const say = (role: string, content: string): JsonObject => ({ role, content });
  const refused: readonly (readonly [field: string, body: JsonObject])[] = [
    ['messages', {}],
    ['messages', { messages: [] }],
    ['messages', { messages: Array.from({ length: 51 }, () => say('user', 'x')) }],
    ['messages.0.content', user('')],
    ['messages.0.content', user('x'.repeat(16_001))],
    ['messages', { messages: [say('user', 'x'.repeat(16_000)), say('user', 'y'.repeat(16_000)), say('user', 'z')] }],
    ['messages.1.role', { messages: [say('user', 'x'), say('assistant', 'y')] }],
    ['messages.0.role', { messages: [say('tool', 'x')] }],
    ['max_tokens', user('x', { max_tokens: 1_001 })],
    ['max_tokens', user('x', { max_tokens: 0 })],
    ['temperature', user('x', { temperature: 2.1 })],
    ['seed', user('x', { seed: 2 ** 32 - 1 })],
    ['stream', user('x', { stream: true })],
  ];
  const payment = await header();
  const gain = await earned(async () => {
    for (const [field, body] of refused) {
      const answer = await show(payment, body);
      const { errors } = Object(answer.body);
      assert.equal([answer.status, errors?.[0]?.field], [400, field], answer.text);
    }
    assert.is((await show(payment, user('😀'.repeat(16_000)))).body.code, 'prompt-too-long', 'characters, not units');
  });
  assert.is(gain, 0n);
  assert.is((await show(payment, user('Hello'))).status, 200, 'and the payment is still good');
});

test('a prompt longer than the context is 400 with both counts, uncharged', async () => {
  const gain = await earned(async () => {
    const { status, body } = await show(await header(), user('word '.repeat(3_000)));
    assert.equal([status, body.code, body.contextTokens], [400, 'prompt-too-long', 512]);
    assert.ok(Number(body.promptTokens) > 10_000);
  });
  assert.is(gain, 0n);
});

test('a full line is 429 with a time to come back, uncharged, and the same payment is good then', async () => {
  const { inference } = node.context;
  const payments = await Promise.all(Array.from({ length: 14 }, () => header()));
  const slow = user('Tell me a story', { temperature: 2, max_tokens: 400 });
  let full: string[] = [];
  const gain = await earned(async () => {
    // The model is held up, so that the line fills whatever the machine is doing.
    const held = Promise.withResolvers<void>();
    const engine = inference.requireReady();
    const complete = engine.complete.bind(engine);
    Object.assign(engine, {
      complete: async (...args: Parameters<typeof complete>) => {
        await held.promise;
        return complete(...args);
      },
    });
    const answers = payments.map((payment) => show(payment, slow));
    await until('five are refused', async () => {
      const settled = await Promise.all(answers.map((answer) => Promise.race([answer, Promise.resolve(undefined)])));
      return settled.filter((answer) => answer !== undefined).length === 5;
    });
    held.resolve();
    const all = await Promise.all(answers);
    Reflect.deleteProperty(engine, 'complete');
    const busy = all.filter(({ status }) => status === 429);
    assert.equal([all.filter(({ status }) => status === 200).length, busy.length], [9, 5]);
    for (const { body, headers } of busy) {
      assert.is(body.code, 'model-busy');
      assert.ok(Number(headers.get('retry-after')) > 0);
    }
    full = payments.filter((_, i) => all[i]?.status === 429);
  });
  assert.is(gain, 9n * price);
  assert.is((await show(full[0] ?? '', slow)).status, 200);
});

test('a caller who goes away stops the work, and is not charged', async () => {
  const payment = await header();
  const away = new AbortController();
  let reason: unknown;
  const gain = await earned(() =>
    instead(
      async (_prompt, signal) => {
        setTimeout(() => away.abort(), 20);
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        reason = signal.reason;
        throw signal.reason;
      },
      async () => {
        await show(payment, user('Hello'), away.signal).catch(() => {});
        await until('the work was given up', () => reason !== undefined);
      },
    ),
  );
  assert.match(String(reason), /abandoned/);
  assert.is(gain, 0n);
  assert.is((await show(payment, user('Hello'))).status, 200, 'he can come back with the same payment');
});

test('a model that fails is 503, uncharged, with nothing recorded', async () => {
  const { store } = node.context;
  const prepared = async (): Promise<number> => (await Array.fromAsync(paymentDraftTable.under(store, []))).length;
  const before = await prepared();
  const gain = await earned(() =>
    instead(
      () => Promise.reject(new InferenceError('failed', 'The engine ended before the completion did.')),
      async () => {
        const { status, body, headers } = await show(await header(), user('Hello'));
        assert.equal([status, body.code], [503, 'model-unavailable']);
        assert.ok(Number(headers.get('retry-after')) > 0);
      },
    ),
  );
  assert.equal([gain, (await prepared()) - before], [0n, 0]);
});

test('where the chain fails after the work, the same payment gets the completion that was made then', async () => {
  const payment = await header();
  const warm = user('Tell me a story about 1 fox', { temperature: 2 });
  const { inference, store } = node.context;
  const complete = inference.complete.bind(inference);
  await instead(
    async (prompt, signal) => {
      const completion = await complete(prompt, signal);
      await chain.stop();
      return completion;
    },
    async () => assert.is((await show(payment, warm)).status, 503),
  );
  assert.is((await Array.fromAsync(paymentDraftTable.under(store, []))).length, 1);
  await node.stop();
  await chain.resume();
  await node.start();
  await instead(
    () => Promise.reject(new Error('asked twice')),
    () =>
      until(
        'payments are taken again',
        async () => {
          const { status, body } = await show(payment, warm);
          if (status === 200) assert.ok(answerShape.Check(body));
          return status === 200;
        },
        30_000,
      ),
  );
});

test('a node without a model names no price, and says which settings give it one', async () => {
  const { inference } = node.context;
  const none = new Inference({ engine: null, timeLimitMs: 1, label: null, log: pino({ level: 'silent' }) });
  assert.is((await node.post(path, user('Hello'), { key: null })).status, 402);
  Object.assign(inference, { requireReady: () => none.requireReady() });
  const { status, body, headers } = await node.post(path, user('Hello'), { key: null });
  Reflect.deleteProperty(inference, 'requireReady');
  assert.equal([status, body.code, headers.has('payment-required')], [503, 'model-unavailable', false]);
  assert.match(String(body.detail), /INFERENCE_URL or MODEL_PATH/);
});

test('the store of the node is whole', async () => {
  await node.stop();
  const { report } = await fsck(node.config.home);
  assert.equal(report.findings, []);
});

test.run();
