import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { NameStanding } from '../../../node/anchoring/anchor-submission.ts';
import type { TopicPoint } from '../../../node/anchoring/ledger/topic-point.ts';
import { outboxTable } from '../../../node/anchoring/outbox.ts';
import { parseLedgerMessage } from '../../../protocol/log/message.ts';
import { until } from '../../fixtures/until.ts';
import { AnchoringNode, anchorMessage, expire, temporaryDirectory } from './anchoring-node.ts';
import { LedgerProcess } from './ledger/ledger-process.ts';

const test = suite('names that decide nothing');

const ledger = await LedgerProcess.start();
test.after(() => ledger[Symbol.asyncDispose]());

/** A log that a test tells what it decided, and who may name what. */
function toldLog() {
  const decided = new Map<number, string>();
  const told = { decided, may: true, reads: Promise.resolve(), receipts: new Array<number>() };
  const naming = {
    async standingOf(message: string): Promise<NameStanding> {
      const named = parseLedgerMessage(message);
      const text = named.type === 'batch' ? decided.get(named.batch) : undefined;
      if (text === undefined) return 'open';
      return text === message ? 'decided' : 'other';
    },
    mayName: () => told.may,
    readToEnd: () => told.reads,
    readSoon: () => undefined,
    noteReceipt: ({ sequence }: TopicPoint) => void told.receipts.push(sequence),
  };
  return { told, naming };
}

test('a name that decided nothing is sent again once that was read, and never twice at once', async () => {
  await using directory = await temporaryDirectory();
  const topicId = await ledger.createTopic();
  const { told, naming } = toldLog();
  await using node = await AnchoringNode.start(directory.path, { config: ledger.config(topicId), naming });
  const message = anchorMessage(await node.seal(1));
  const sent = async () => (await ledger.messageCounts(topicId)).get(message) ?? 0;
  await until('named', async () => (await sent()) === 1);
  await until('noted', async () => (await node.anchoring.status(1))?.status === 'submitted');
  assert.is((await node.anchoring.status(1))?.attempts, 1);
  await until('a receipt tells where it landed', () => told.receipts.length > 0);
  assert.equal(told.receipts, [1]);
  node.anchoring.noteUndecided([message]);
  await until('named again', async () => (await sent()) === 2);
  assert.is((await node.anchoring.status(1))?.attempts, 2);
  told.decided.set(1, message);
  node.anchoring.noteDecided([message]);
  await node.allConfirmed([1]);
  assert.is(await sent(), 2);
});

test('a restart finds out that a name decided nothing, by a mirror and the log', async () => {
  await using directory = await temporaryDirectory();
  const topicId = await ledger.createTopic();
  const { told, naming } = toldLog();
  const config = ledger.config(topicId);
  const sent = async () => (await ledger.messageCounts(topicId)).get(message) ?? 0;
  let message: string;
  {
    await using before = await AnchoringNode.start(directory.path, { config, naming });
    message = anchorMessage(await before.seal(1));
    await until('submitted', async () => (await before.anchoring.status(1))?.status === 'submitted');
    await until('on the ledger', async () => (await sent()) === 1);
  }
  await expire(directory.path, outboxTable);
  const read = Promise.withResolvers<void>();
  told.reads = read.promise;
  await using after = await AnchoringNode.start(directory.path, { config, naming });
  read.resolve();
  await until('named again', async () => (await sent()) === 2);
  told.decided.set(1, message);
  after.anchoring.noteDecided([message]);
  await after.allConfirmed([1]);
});

test('a batch that may not be named waits, costs nothing and holds back those after it', async () => {
  await using directory = await temporaryDirectory();
  const topicId = await ledger.createTopic();
  const { told, naming } = toldLog();
  told.may = false;
  await using node = await AnchoringNode.start(directory.path, { config: ledger.config(topicId), naming });
  const messages = [anchorMessage(await node.seal(1)), anchorMessage(await node.seal(2))];
  await until('the first is taken up', async () => (await node.anchoring.state()).inFlight === 1);
  const state = await node.anchoring.state();
  assert.equal([state.spend.day.transactions, state.delayed], [0, false]);
  told.may = true;
  node.anchoring.noteChange();
  await until('both are named', async () => (await ledger.messageCounts(topicId)).size === 2);
  messages.forEach((message, i) => told.decided.set(i + 1, message));
  node.anchoring.noteDecided(messages);
  await node.allConfirmed([1, 2]);
});

test('where another batch was decided, nothing more is sent for this one', async () => {
  await using directory = await temporaryDirectory();
  const topicId = await ledger.createTopic();
  const { told, naming } = toldLog();
  told.decided.set(1, 'another');
  await using node = await AnchoringNode.start(directory.path, { config: ledger.config(topicId), naming });
  await node.seal(1);
  await until('it is taken up', async () => (await node.anchoring.state()).inFlight === 1);
  node.anchoring.noteChange();
  assert.is((await node.anchoring.status(1))?.attempts, 0);
  assert.is((await ledger.messageCounts(topicId)).size, 0);
});

test.run();
