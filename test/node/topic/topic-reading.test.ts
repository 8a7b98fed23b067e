import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { mirrorSource, mirrorSources } from '../../../node/topic/message-source.ts';
import type { TopicPoint } from '../../../node/topic/topic-point.ts';
import { TopicReading } from '../../../node/topic/topic-reading.ts';
import { type EntityId, nodeId } from '../../../protocol/ids.ts';
import { until } from '../../fixtures/until.ts';
import { silent, temporaryDirectory } from '../anchoring/anchoring-node.ts';
import { entity, LedgerProcess } from '../anchoring/ledger-process.ts';
import { INITIAL_HEAD } from '../../../node/anchoring/topic-links.ts';
import { connect, type MemberOptions, ReadingMember } from './reading-member.ts';
import { ScriptedMirror, type Story, truth } from './scripted-mirror.ts';
import { forkOf, texts } from './topic-chain.ts';
import { TopicWriter } from './topic-writer.ts';

const test = suite('reading a topic');
const SELF = nodeId('eu');
const ledger = await LedgerProcess.start();

/** A topic of its own with mirrors in front of the ledger, and one member alone. */
class Scene implements AsyncDisposable {
  readonly topicId: EntityId;
  readonly writer: TopicWriter;
  readonly mirrors: Readonly<Record<string, ScriptedMirror>>;
  readonly directory: string;
  readonly #closing: AsyncDisposableStack;

  private constructor(
    base: Pick<Scene, 'topicId' | 'writer' | 'mirrors' | 'directory'>,
    closing: AsyncDisposableStack,
  ) {
    this.topicId = base.topicId;
    this.writer = base.writer;
    this.mirrors = base.mirrors;
    this.directory = base.directory;
    this.#closing = closing;
  }

  static async start(names: readonly string[]): Promise<Scene> {
    await using starting = new AsyncDisposableStack();
    const topicId = await ledger.createTopic();
    const directory = starting.use(await temporaryDirectory());
    const writer = starting.use(await TopicWriter.open(ledger.config(topicId)));
    const mirrors: Record<string, ScriptedMirror> = {};
    for (const name of names) mirrors[name] = starting.use(await ScriptedMirror.start(ledger.mirrorUrl, topicId));
    return new Scene({ topicId, writer, mirrors, directory: directory.path }, starting.move());
  }

  mirror(name: string): ScriptedMirror {
    const mirror = this.mirrors[name];
    if (mirror === undefined) throw new RangeError(`no mirror ${name}`);
    return mirror;
  }

  async open(options: Partial<MemberOptions> = {}, folder = 'member'): Promise<ReadingMember> {
    const sources = Object.entries(this.mirrors).map(([name, { url }]) => mirrorSource(name, [url], this.topicId));
    const { topicId } = this;
    const base = { topicId, sources, topicInfo: null, self: SELF, members: [SELF] };
    return ReadingMember.open(`${this.directory}/${folder}`, { ...base, ...options });
  }

  async write(count: number, name = 'message'): Promise<string[]> {
    const written = texts(count, name);
    for (const text of written) await this.writer.write(text);
    return written;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#closing.disposeAsync();
  }
}

const forged =
  ({ topicId }: Scene, from: number, name = 'never sent'): Story =>
  (messages) =>
    messages.length + 1 < from ? messages : forkOf(messages, from, name, { length: messages.length + 2, topicId });

async function hasProcessed(member: ReadingMember, count: number): Promise<void> {
  await until(`${count} messages processed`, () => member.reading.state().position.sequence >= count);
  assert.is(member.reading.state().position.sequence, count);
}

function contradictionOf(member: ReadingMember, host: string): string | undefined {
  return member.reading.state().sources.find((source) => source.host === host)?.contradiction?.kind;
}

test('what two mirrors tell is handed out once and in order, across a restart', async () => {
  await using scene = await Scene.start(['a', 'b']);
  const first = await scene.write(7, 'first');
  {
    await using member = await scene.open();
    await hasProcessed(member, 7);
    assert.equal(await member.processed(), first);
  }
  const second = await scene.write(5, 'second');
  await using member = await scene.open();
  await hasProcessed(member, 12);
  assert.equal(await member.processed(), [...first, ...second]);
  assert.is(member.reading.state().waitingFor, 'nothing');
  assert.is(member.reading.state().consensus, null);
});

test('a mirror that extends the topic by messages that link is not believed, is named, and is a source again when it stops', async () => {
  await using scene = await Scene.start(['liar', 'a', 'b']);
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
  await using scene = await Scene.start(['liar', 'a']);
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

test('a false first page of one mirror keeps nobody from reading on, and is not waited for', async () => {
  await using scene = await Scene.start(['liar', 'a', 'b']);
  scene.mirror('liar').story = forged(scene, 1);
  const written = await scene.write(3);
  await using member = await scene.open();
  await hasProcessed(member, 3);
  assert.equal(await member.processed(), written);
});

test('a mirror that withholds, one that lags and one that fails hold nothing up while two others answer', async () => {
  await using scene = await Scene.start(['withholds', 'lags', 'fails', 'a', 'b']);
  scene.mirror('withholds').story = (messages) => messages.slice(0, 1);
  scene.mirror('lags').story = (messages) => messages.slice(0, -2);
  scene.mirror('fails').status = 503;
  await using member = await scene.open();
  const written = await scene.write(8);
  await hasProcessed(member, 8);
  assert.equal(await member.processed(), written);
  const { sources } = member.reading.state();
  assert.equal(sources.map(({ contradiction }) => contradiction), [null, null, null, null, null]);
  assert.match(sources[2]?.failure ?? '', /503/);
  assert.is(sources[2]?.lastAnswerAt, null);
  scene.mirror('a').status = 500;
  scene.mirror('fails').status = undefined;
  const more = await scene.write(2, 'more');
  await hasProcessed(member, 10);
  assert.equal(await member.processed(), [...written, ...more]);
});

test('a failing mirror is asked more and more rarely, and read on when it answers', async () => {
  await using scene = await Scene.start(['a', 'b']);
  await using member = await scene.open();
  await scene.write(1);
  await hasProcessed(member, 1);
  scene.mirror('b').status = 500;
  const before = { a: scene.mirror('a').asked, b: scene.mirror('b').asked };
  await until('the other is asked often', () => scene.mirror('a').asked >= before.a + 15);
  assert.ok(scene.mirror('b').asked - before.b <= 6, 'the failing one is not');
  scene.mirror('b').status = undefined;
  await scene.write(1);
  await hasProcessed(member, 2);
});

test('pages that the caller does not take come again', async () => {
  await using scene = await Scene.start(['a', 'b']);
  await using member = await scene.open();
  member.refusals = 2;
  const written = await scene.write(5);
  await hasProcessed(member, 5);
  assert.is(member.refusals, 0);
  assert.equal(await member.processed(), written);
});

test('with one mirror, receipts are the second source, and consensus nodes are asked for what comes after the last of them', async () => {
  await using scene = await Scene.start(['a']);
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

test('the end of the topic is reached by two sources, empty or not', async () => {
  await using scene = await Scene.start(['a']);
  await using member = await scene.open({ topicInfo: scene.writer.topicInfo, secondSourceMs: 60_000 });
  const { signal } = new AbortController();
  await member.reading.readToEnd(signal);
  assert.is(member.reading.state().position.sequence, 0);
  await scene.write(150);
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
  await until('consensus nodes are asked', () => scene.writer.asked === 3);
  ending.abort();
  assert.is(await waiting, 'given up', 'a mirror that withholds the end does not reach it');
});

test('of a member two of whose mirrors tell one lie, nothing false is final, and it comes back when they stop', async () => {
  await using scene = await Scene.start(['x', 'y', 'a', 'b']);
  await using stack = new AsyncDisposableStack();
  const ids = ['eu', 'us', 'ap'].map(nodeId);
  const sourcesOf = (names: readonly string[]) =>
    names.map((name) => mirrorSource(name, [scene.mirror(name).url], scene.topicId));
  const members: ReadingMember[] = [];
  for (const [index, self] of ids.entries()) {
    const sources = sourcesOf(index === 0 ? ['x', 'y'] : ['a', 'b']);
    members.push(stack.use(await scene.open({ self, members: ids, sources }, self)));
  }
  connect(members);
  const [fooled, ...others] = members;
  if (fooled === undefined) throw new Error('no member');
  for (const name of ['x', 'y']) scene.mirror(name).story = forged(scene, 3);
  const written = await scene.write(5);
  for (const member of others) await hasProcessed(member, 5);
  await until('the lie is agreed on', () => fooled.reading.tell().sequence > 5);
  await hasProcessed(fooled, 2);
  for (const name of ['x', 'y']) scene.mirror(name).story = truth;
  await hasProcessed(fooled, 5);
  for (const member of members) assert.equal(await member.processed(), written);
});

test('five members with one mirror, each writing, process the same messages', async () => {
  await using scene = await Scene.start(['a']);
  await using stack = new AsyncDisposableStack();
  const ids = ['eu', 'us', 'ap', 'sa', 'af'].map(nodeId);
  const members: ReadingMember[] = [];
  for (const self of ids) {
    members.push(stack.use(await scene.open({ self, members: ids, topicInfo: scene.writer.topicInfo }, self)));
  }
  connect(members);
  const write = async (member: ReadingMember): Promise<void> => {
    for (const text of texts(8, `of ${member.id}`)) member.reading.noteReceipt(await scene.writer.write(text));
  };
  await Promise.all(members.map(write));
  for (const member of members) await hasProcessed(member, 40);
  const [first] = members;
  const order = (await first?.processed()) ?? [];
  assert.is(new Set(order).size, 40);
  for (const member of members) assert.equal(await member.processed(), order);
});

test('addresses at one host are one source, and one source alone is none', () => {
  const topicId = entity('0.0.1');
  const sources = mirrorSources(['http://one.example:1', 'http://ONE.example.:2/', 'https://two.example'], topicId);
  assert.equal(sources.map(({ name }) => name), ['one.example', 'two.example']);
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
