import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { anchorMessage, AnchoringNode, temporaryDirectory } from './anchoring-node.ts';
import { until } from '../../fixtures/until.ts';
import { LedgerProcess } from './ledger/ledger-process.ts';

const test = suite('anchoring on the local ledger');

const ledger = await LedgerProcess.start();
/** Each is named once the one before is on the ledger. */
const BATCHES = 8;
const SHORT_LIVED = { validSeconds: 15 };

/** What a test leaves behind must not colour the next. */
test.after.each(() =>
  ledger.setFaults({ unavailable: 0, busy: 0, mirrorDown: false, roundPaused: false, lostBeforeConsensus: 0 }),
);
test.after(() => ledger[Symbol.asyncDispose]());

test('sealed batches are confirmed once each, with their history', async () => {
  await using directory = await temporaryDirectory();
  const topicId = await ledger.createTopic();
  await using node = await AnchoringNode.start(directory.path, { config: ledger.config(topicId) });
  const batches = Array.from({ length: BATCHES }, (_, i) => i + 1);
  const sealed = [];
  for (const batch of batches) sealed.push(await node.seal(batch));
  await node.allConfirmed(batches);
  const counts = await ledger.messageCounts(topicId);
  assert.is(counts.size, BATCHES);
  assert.ok([...counts.values()].every((count) => count === 1));
  assert.equal([...counts.keys()].toSorted(), sealed.map(anchorMessage).toSorted());
  for (const batch of batches) {
    const status = await node.anchoring.status(batch);
    assert.is(status?.attempts, 1);
    assert.is(status?.history[0]?.status, 'queued');
    assert.is(status?.history.at(-1)?.status, 'confirmed');
    assert.match(status?.history.at(-1)?.transactionId ?? '', /@/);
  }
  const state = await node.anchoring.state();
  assert.is(state.backlog, 0);
  assert.is(state.lagSeconds, 0);
  assert.is(state.spend.hour.transactions, BATCHES);
});

test('a dead ledger at boot and a dead mirror later only delay: nothing is lost', async () => {
  await using directory = await temporaryDirectory();
  const topicId = await ledger.createTopic();
  const config = ledger.config(topicId);
  await ledger.kill();
  await using node = await AnchoringNode.start(directory.path, { config });
  for (const batch of [1, 2, 3]) await node.seal(batch);
  await until('known to be out of reach', async () => {
    return (await node.anchoring.state()).ledger.reachable === false;
  });
  const dark = await node.anchoring.state();
  assert.is(dark.backlog, 3);
  assert.ok(dark.lagSeconds > 0);
  await ledger.resume();
  await ledger.setFaults({ mirrorDown: true });
  await until('submitted', async () => (await node.anchoring.status(3))?.status === 'submitted');
  assert.not(await node.isConfirmed(1), 'an accepted transaction is not a confirmed one');
  await ledger.setFaults({ mirrorDown: false });
  await node.allConfirmed([1, 2, 3]);
  assert.ok([...(await ledger.messageCounts(topicId)).values()].every((count) => count === 1));
  assert.ok((await node.anchoring.state()).ledger.reachable);
});

test('over its ceiling anchoring waits, also after a restart, and goes on when it is raised', async () => {
  await using directory = await temporaryDirectory();
  const topicId = await ledger.createTopic();
  const tight = ledger.config(topicId, { spend: { transactionsPerDay: 2 } });
  const first = await AnchoringNode.start(directory.path, { config: tight });
  for (const batch of [1, 2, 3, 4]) await first.seal(batch);
  await first.allConfirmed([1, 2]);
  await first[Symbol.asyncDispose]();

  const second = await AnchoringNode.start(directory.path, { config: tight });
  await until('held', async () => (await second.anchoring.status(3))?.delayed === true);
  await sleep(300);
  const held = await second.anchoring.status(3);
  assert.is(held?.status, 'queued');
  assert.is((await ledger.messageCounts(topicId)).size, 2);
  assert.ok((await second.anchoring.state()).delayed);
  await second[Symbol.asyncDispose]();

  await using third = await AnchoringNode.start(directory.path, { config: ledger.config(topicId) });
  await third.allConfirmed([3, 4]);
  assert.not((await third.anchoring.state()).delayed);
});

test('a transaction that a node lost or refused is replaced only once it is dead, and the history keeps both', async () => {
  await using directory = await temporaryDirectory();
  const topicId = await ledger.createTopic();
  const poor = await AnchoringNode.start(directory.path, { config: { ...ledger.poorConfig(topicId), ...SHORT_LIVED } });
  await poor.seal(1);
  await until('refused', async () => {
    return (await poor.anchoring.state()).ledger.refusal === 'INSUFFICIENT_PAYER_BALANCE';
  });
  assert.is((await poor.anchoring.status(1))?.status, 'prepared');
  await poor[Symbol.asyncDispose]();

  await ledger.setFaults({ lostBeforeConsensus: 1 });
  await using rich = await AnchoringNode.start(directory.path, {
    config: { ...ledger.config(topicId), ...SHORT_LIVED },
  });
  await rich.seal(2);
  await until(
    'accepted',
    async () => {
      const { history = [] } = (await rich.anchoring.status(1)) ?? {};
      return history.some(({ status }) => status === 'submitted');
    },
    30_000,
  );
  assert.is((await rich.anchoring.status(2))?.status, 'queued', 'it waits for the one before');
  await ledger.setFaults({ lostBeforeConsensus: 0 });
  await rich.allConfirmed([1, 2], 45_000);
  const { attempts = 0, history: whole = [] } = (await rich.anchoring.status(1)) ?? {};
  assert.ok(attempts >= 3, `${attempts} attempts`);
  assert.equal(whole.map(({ status }) => status).slice(0, 3), ['queued', 'prepared', 'queued']);
  // Of what a node took and lost.
  const history = whole.slice(whole.findIndex(({ status }) => status === 'submitted') - 2);
  assert.equal(history.map(({ status }) => status).slice(0, 5), [
    'queued',
    'prepared',
    'submitted',
    'queued',
    'prepared',
  ]);
  const [lost, died, next] = [history[2], history[3], history[4]].map((event) => event?.transactionId);
  assert.is(lost, died);
  assert.is.not(next, lost);
  const validFrom = Number(lost?.split('@')[1]);
  const deadFor = Date.parse(history[3]?.at ?? '') / 1000 - (validFrom + SHORT_LIVED.validSeconds);
  assert.ok(deadFor > 0, `let go ${-deadFor} s before its end`);
  assert.ok([...(await ledger.messageCounts(topicId)).values()].every((count) => count === 1));
});

test.run();
