import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { INITIAL_HEAD } from '../../../../node/anchoring/topic/topic-links.ts';
import { type MessageSource, mirrorSources } from '../../../../node/anchoring/topic/message-source.ts';
import type { TopicPoint } from '../../../../node/anchoring/ledger/topic-point.ts';
import { TopicReading } from '../../../../node/anchoring/topic/topic-reading.ts';
import { decodeUtf8 } from '../../../../protocol/bytes.ts';
import { until } from '../../../fixtures/until.ts';
import { silent } from '../anchoring-node.ts';
import { entity, LedgerProcess } from '../ledger/ledger-process.ts';
import { truth } from './scripted-mirror.ts';
import { contradictionOf, forged, hasProcessed, Scene, SELF } from './topic-scene.ts';

/** After the first failure, at the least: half of twice the first pause. In milliseconds. */
const FIRST_PAUSE_MS = 250;

const test = suite('reading a topic');
const ledger = await LedgerProcess.start();

test('what two mirrors tell is handed out once and in order, across a restart', async () => {
  await using scene = await Scene.start(ledger, ['a', 'b']);
  const first = await scene.write(7, 'first');
  {
    await using member = await scene.open();
    await hasProcessed(member, 7);
    assert.equal(await member.processed(), first);
  }
  const second = await scene.write(5, 'second');
  await using member = await scene.open();
  await member.reading.readToEnd(new AbortController().signal);
  await hasProcessed(member, 12);
  assert.equal(await member.processed(), [...first, ...second]);
  assert.is(member.reading.state().waitingFor, 'nothing');
  assert.is(member.reading.state().consensus, null);
});

test('a mirror that extends the topic by messages that link is not believed, is named, and is a source again when it stops', async () => {
  await using scene = await Scene.start(ledger, ['liar', 'a', 'b']);
  const first = await scene.write(4, 'first');
  scene.mirror('liar').story = forged(scene, 5);
  await using member = await scene.open();
  await hasProcessed(member, 4);
  await until('the lie is read', () => member.reading.state().sources[0]?.position === 6);
  const second = await scene.write(3, 'second');
  await hasProcessed(member, 7);
  await until('the liar is named', () => contradictionOf(member, 'liar') !== undefined);
  assert.equal(await member.processed(), [...first, ...second]);
  scene.mirror('liar').story = truth;
  await until('the liar is free', () => contradictionOf(member, 'liar') === undefined);
  scene.mirror('a').status = 500;
  await scene.write(1, 'third');
  await hasProcessed(member, 8);
});

test('mirrors that part make nothing final past the fork; what waits is confirmed when consensus nodes speak, without a restart', async () => {
  await using scene = await Scene.start(ledger, ['liar', 'a']);
  scene.mirror('liar').story = forged(scene, 4);
  const consensus = Promise.withResolvers<void>();
  await using member = await scene.open({
    topicInfo: async (signal) => {
      await consensus.promise;
      return scene.writer.topicInfo(signal);
    },
  });
  const written = await scene.write(6);
  await until('the dispute is seen', () => member.reading.state().waitingFor === 'sources-differ');
  await hasProcessed(member, 3);
  consensus.resolve();
  await hasProcessed(member, 6);
  assert.equal(await member.processed(), written);
  await until('the liar is named', () => contradictionOf(member, 'liar') !== undefined);
  assert.is(contradictionOf(member, 'a'), undefined);
});

test('what one mirror shows is told once, long before it is final', async () => {
  await using scene = await Scene.start(ledger, ['a']);
  const shown: string[] = [];
  await using member = await scene.open({
    topicInfo: () => Promise.reject(new Error('not yet')),
    onShown: (messages) => shown.push(...messages.map(({ message }) => decodeUtf8(message))),
  });
  const written = await scene.write(2);
  await until('both to be shown', () => shown.length >= 2);
  const asked = scene.mirror('a').asked;
  await until('the mirror to be asked again', () => scene.mirror('a').asked >= asked + 2);
  assert.equal(shown, written);
  assert.is(member.reading.state().position.sequence, 0);
});

test('a false first page of one mirror keeps nobody from reading on, and is not waited for', async () => {
  await using scene = await Scene.start(ledger, ['liar', 'a', 'b']);
  scene.mirror('liar').story = forged(scene, 1);
  const written = await scene.write(3);
  await using member = await scene.open();
  await hasProcessed(member, 3);
  assert.equal(await member.processed(), written);
});

test('a mirror that withholds, one that lags and one that fails hold nothing up while two others answer', async () => {
  await using scene = await Scene.start(ledger, ['withholds', 'lags', 'fails', 'a', 'b']);
  scene.mirror('withholds').story = (messages) => messages.slice(0, 1);
  scene.mirror('lags').story = (messages) => messages.slice(0, -2);
  scene.mirror('fails').status = 503;
  await using member = await scene.open();
  const written = await scene.write(8);
  await hasProcessed(member, 8);
  assert.equal(await member.processed(), written);
  const { sources } = member.reading.state();
  assert.equal(
    sources.map(({ contradiction }) => contradiction),
    [null, null, null, null, null],
  );
  assert.is(sources[2]?.lastAnswerAt, null);
  await until('the failure is shown', () => /503/.test(member.reading.state().sources[2]?.failure ?? ''));
  scene.mirror('a').status = 500;
  scene.mirror('fails').status = undefined;
  const more = await scene.write(2, 'more');
  await hasProcessed(member, 10);
  assert.equal(await member.processed(), [...written, ...more]);
});

test('a failing mirror is asked more and more rarely, and read on when it answers', async () => {
  await using scene = await Scene.start(ledger, ['a', 'b']);
  await using member = await scene.open();
  await scene.write(1);
  await hasProcessed(member, 1);
  scene.mirror('b').status = 500;
  const before = { a: scene.mirror('a').asked, b: scene.mirror('b').asked };
  const began = performance.now();
  await until('the other is asked often', () => scene.mirror('a').asked >= before.a + 15);
  // Each pause is twice the one before it: in so long a time there are no more of them.
  const pauses = Math.log2((performance.now() - began) / FIRST_PAUSE_MS + 1);
  const asked = scene.mirror('b').asked - before.b;
  assert.ok(asked <= pauses + 2, `the failing one was asked ${asked} times in ${pauses.toFixed(1)} pauses`);
  scene.mirror('b').status = undefined;
  await scene.write(1);
  await hasProcessed(member, 2);
});

test('pages that the caller does not take come again', async () => {
  await using scene = await Scene.start(ledger, ['a', 'b']);
  await using member = await scene.open();
  member.refusals = 2;
  const written = await scene.write(5);
  await hasProcessed(member, 5);
  assert.is(member.refusals, 0);
  assert.equal(await member.processed(), written);
});

test('with one mirror, receipts are the second source, and consensus nodes are asked for what comes after the last of them', async () => {
  await using scene = await Scene.start(ledger, ['a']);
  const answers: TopicPoint[] = [];
  let isOpen = false;
  await using member = await scene.open({
    secondSourceMs: 1,
    topicInfo: async (signal) => {
      if (!isOpen) throw new Error('not yet');
      const point = await scene.writer.topicInfo(signal);
      answers.push(point);
      return point;
    },
  });
  const first = await scene.write(2, 'of others');
  const receipt = await scene.writer.write('own');
  assert.is(receipt.sequence, 3);
  member.reading.noteReceipt(receipt);
  await hasProcessed(member, 3);
  const more = await scene.write(2, 'more of others');
  await until('a second source is waited for', () => member.reading.state().waitingFor === 'second-source');
  assert.is(member.reading.state().position.sequence, 3);
  assert.equal(answers, []);
  isOpen = true;
  await hasProcessed(member, 5);
  assert.is(answers.at(-1)?.sequence, 5);
  assert.equal(await member.processed(), [...first, 'own', ...more]);
});

test('where what consensus nodes say does not help, they are asked more and more rarely', async () => {
  await using scene = await Scene.start(ledger, ['liar']);
  await scene.write(2);
  scene.mirror('liar').story = forged(scene, 3);
  const asked: number[] = [];
  await using member = await scene.open({
    secondSourceMs: 40,
    topicInfo: (signal) => {
      asked.push(performance.now());
      return scene.writer.topicInfo(signal);
    },
  });
  await hasProcessed(member, 2);
  await until('they were asked often enough', () => asked.length >= 6);
  const pauses = asked.slice(1).map((at, index) => at - (asked[index] ?? 0));
  assert.ok((pauses.at(-1) ?? 0) >= 4 * 40, `pauses of ${pauses.map(Math.round).join(' ')} ms`);
  assert.is(member.reading.state().position.sequence, 2);
});

test('the end of the topic is reached by two sources, empty or not', async () => {
  await using scene = await Scene.start(ledger, ['a']);
  await using member = await scene.open({ topicInfo: scene.writer.topicInfo, secondSourceMs: 60_000 });
  const { signal } = new AbortController();
  await member.reading.readToEnd(signal);
  assert.is(member.reading.state().position.sequence, 0);
  await scene.writeAtOnce(150);
  await member.reading.readToEnd(signal);
  assert.is(member.reading.state().position.sequence, 150);
  assert.is(scene.writer.asked, 2);
  scene.mirror('a').story = (messages) => messages.slice(0, 150);
  await scene.write(1);
  const ending = new AbortController();
  const waiting = member.reading.readToEnd(ending.signal).then(
    () => 'reached',
    () => 'given up',
  );
  await until('consensus nodes are asked', () => scene.writer.asked >= 3);
  ending.abort();
  assert.is(await waiting, 'given up', 'a mirror that withholds the end does not reach it');
});

test('the end of the topic is reached though the clock is set back meanwhile', async () => {
  let now = Date.now();
  const going = Promise.withResolvers<void>();
  const source = (name: string): MessageSource => ({
    name,
    messages: async () => {
      await going.promise;
      return [];
    },
  });
  await using reading = new TopicReading({
    topicId: entity('0.0.1'),
    head: INITIAL_HEAD,
    self: SELF,
    members: [SELF],
    sources: [source('a'), source('b')],
    topicInfo: null,
    onFinal: () => Promise.resolve(),
    now: () => now,
    random: Math.random,
    log: silent,
    intervalMs: 10,
  });
  const ending = new AbortController();
  let isReached = false;
  const reached = reading.readToEnd(ending.signal).then(() => (isReached = true));
  now -= 3_600_000;
  reading.start();
  going.resolve();
  try {
    await until('the end', () => isReached);
  } finally {
    ending.abort();
    await reached.catch(() => undefined);
  }
});

test('addresses at one host are one source, and one source alone is none', () => {
  const topicId = entity('0.0.1');
  const sources = mirrorSources(['http://one.example:1', 'http://ONE.example.:2/', 'https://two.example'], topicId);
  assert.equal(
    sources.map(({ name }) => name),
    ['one.example', 'two.example'],
  );
  const options = { topicId, head: INITIAL_HEAD, self: SELF, members: [SELF], now: Date.now, random: Math.random };
  const open = (count: number): TopicReading =>
    new TopicReading({
      ...options,
      log: silent,
      sources: sources.slice(0, count),
      topicInfo: null,
      onFinal: () => Promise.resolve(),
    });
  assert.throws(() => open(1), RangeError);
  assert.ok(open(2));
});

test.after(() => ledger[Symbol.asyncDispose]());
test.run();
