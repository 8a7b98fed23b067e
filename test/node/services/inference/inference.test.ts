import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Completion,
  type Engine,
  InferenceError,
  type Prompt,
} from '../../../../node/services/inference/engine.ts';
import { Inference, MAX_WAITING } from '../../../../node/services/inference/inference.ts';
import { ask, PATIENT } from '../../../fixtures/toy-model.ts';

/** Completes when it is told to, and gives up when the signal says so. */
class HeldEngine implements Engine {
  readonly atOnce = 1;
  trouble: string | null = null;
  readonly asked: { readonly prompt: Prompt; readonly complete: () => void; readonly fail: (error: Error) => void }[] =
    [];

  complete(prompt: Prompt, signal: AbortSignal): Promise<Completion> {
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
      this.asked.push({ prompt, complete: () => resolve(completionOf(prompt)), fail: reject });
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

function completionOf({ maxTokens, temperature, seed }: Prompt): Completion {
  return {
    content: 'done',
    finishReason: 'stop',
    usage: null,
    parameters: { maxTokens, temperature, seed },
    model: {
      model: 'held',
      modelVersion: 'held@1',
      modelDigest: null,
      modelSource: { engine: 'remote', digestOf: null, declaredByOperator: false, systemFingerprint: null },
    },
  };
}

function open(engine: Engine | null, timeLimitMs = 10_000): Inference {
  return new Inference({ engine, timeLimitMs, label: null, log: pino({ level: 'silent' }) });
}

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  const error: unknown = await work.then(
    () => 'done',
    (thrown: unknown) => thrown,
  );
  return error instanceof InferenceError ? error.code : error;
}

/** Nothing else keeps the process while only limits run: they are not what a node lives for. */
const alive = setInterval(() => {}, 1_000);
test.after(() => clearInterval(alive));

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('without a model it says which settings give it one', () => {
  assert.throws(() => open(null).requireReady(), /INFERENCE_URL or MODEL_PATH/);
});

test('what is known to be out of order is not asked', async () => {
  const engine = new HeldEngine();
  engine.trouble = 'broken';
  assert.is(await codeOf(open(engine).complete(ask('x'), PATIENT)), 'unavailable');
  assert.is(engine.asked.length, 0);
});

test('one at a time is completed, eight wait, and the next is refused at once', async () => {
  const engine = new HeldEngine();
  const inference = open(engine);
  const given = Array.from({ length: MAX_WAITING + 1 }, (_, i) => codeOf(inference.complete(ask(`${i}`), PATIENT)));
  await turn();
  assert.is(await codeOf(inference.complete(ask('x'), PATIENT)), 'busy');
  for (let i = 0; i < given.length; i++) {
    assert.is(engine.asked.length, i + 1);
    engine.asked[i]?.complete();
    await turn();
  }
  assert.equal(
    await Promise.all(given),
    Array.from(given, () => 'done'),
  );
  assert.equal(
    engine.asked.map(({ prompt }) => prompt.messages[0]?.content),
    Array.from(given, (_, i) => `${i}`),
  );
});

test('the time limit counts from the asking, waiting included', async () => {
  const inference = open(new HeldEngine(), 500);
  const first = codeOf(inference.complete(ask('1'), PATIENT));
  const second = codeOf(inference.complete(ask('2'), PATIENT));
  assert.is(await first, 'timed-out');
  // Counted from its turn, the second would have all of its time before it now. Timers fire in the order in which they
  // are due, however busy the machine.
  assert.is(await Promise.race([second, sleep(400).then(() => 'later')]), 'timed-out');
});

test('who goes away is told his own reason, whether he waits or is served', async () => {
  const engine = new HeldEngine();
  const inference = open(engine);
  const wanted = new AbortController();
  const both = [
    codeOf(inference.complete(ask('1'), wanted.signal)),
    codeOf(inference.complete(ask('2'), wanted.signal)),
  ];
  await turn();
  wanted.abort('gone');
  assert.equal(await Promise.all(both), ['gone', 'gone']);
  const next = codeOf(inference.complete(ask('3'), PATIENT));
  await turn();
  engine.asked.at(-1)?.complete();
  assert.is(await next, 'done');
});

test('an engine that fails fails one completion', async () => {
  const engine = new HeldEngine();
  const inference = open(engine);
  const first = codeOf(inference.complete(ask('1'), PATIENT));
  const second = codeOf(inference.complete(ask('2'), PATIENT));
  await turn();
  engine.asked[0]?.fail(new InferenceError('failed', 'crashed'));
  assert.is(await first, 'failed');
  await turn();
  engine.asked[1]?.complete();
  assert.is(await second, 'done');
});

test.run();
