import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { mirrorSource } from '../../../../node/anchoring/topic/message-source.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import { until } from '../../../fixtures/until.ts';
import { LedgerProcess } from '../ledger/ledger-process.ts';
import { connect, type ReadingMember } from './reading-member.ts';
import { truth } from './scripted-mirror.ts';
import { texts } from './topic-chain.ts';
import { forged, hasProcessed, Scene } from './topic-scene.ts';

const test = suite('members that read one topic');
const ledger = await LedgerProcess.start();

test('of a member two of whose mirrors tell one lie, nothing false is final, and it comes back when they stop', async () => {
  await using scene = await Scene.start(ledger, ['x', 'y', 'a', 'b']);
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
  // What is told of a place past the lie shows nothing of what is before it: these are told of alone.
  const written = await scene.write(2);
  for (const member of members) await hasProcessed(member, 2);
  written.push(...(await scene.write(3, 'later')));
  for (const member of others) await hasProcessed(member, 5);
  await until('the lie is agreed on', () => fooled.reading.tell().sequence > 5);
  assert.is(fooled.reading.state().position.sequence, 2);
  for (const name of ['x', 'y']) scene.mirror(name).story = truth;
  await hasProcessed(fooled, 5);
  for (const member of members) assert.equal(await member.processed(), written);
});

test('five members with one mirror, each writing, process the same messages', async () => {
  await using scene = await Scene.start(ledger, ['a']);
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

test.after(() => ledger[Symbol.asyncDispose]());
test.run();
