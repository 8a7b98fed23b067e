import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { anchorTable } from '../../../node/anchoring/anchors.ts';
import { HederaClient } from '../../../node/ledger/hedera-client.ts';
import {
  anchorMessage,
  AnchoringNode,
  envelopeHash,
  FEDERATION,
  NODE,
  sealedBatch,
  temporaryDirectory,
} from './anchoring-node.ts';
import { until } from '../../fixtures/until.ts';
import { LedgerProcess } from '../ledger/ledger-process.ts';
import { type Lie, LyingMirror, truth } from './lying-mirror.ts';

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

test('sealed batches are confirmed once each, with a bundle anchor that links and their history', async () => {
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
  for (const batch of sealed) {
    const anchor = await node.anchoring.envelopeAnchor(batch.envelope, batch.signed.statement);
    assert.is(anchor?.message, anchorMessage(batch));
    assert.is(anchor?.network, 'meridian-local');
    const status = await node.anchoring.status(batch.envelope.batch);
    assert.is(status?.attempts, 1);
    assert.is(status?.history[0]?.status, 'queued');
    assert.is(status?.history.at(-1)?.status, 'confirmed');
    assert.is(status?.history.at(-1)?.transactionId, anchor?.transactionId);
  }
  const state = await node.anchoring.state();
  assert.is(state.backlog, 0);
  assert.is(state.lagSeconds, 0);
  assert.is(state.topic.head.sequence, BATCHES);
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
    const { ledger: contact, topic } = await node.anchoring.state();
    return contact.reachable === false && topic.failure !== null;
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

const LIES: Readonly<Record<string, Lie>> = {
  'other bytes': (messages) => messages.map((one) => ({ ...one, message: flipFirst(one.message) })),
  'another running hash': (messages) => messages.map((one) => ({ ...one, running_hash: flipFirst(one.running_hash) })),
  'another time': (messages) => messages.map((one) => ({ ...one, consensus_timestamp: '1763717400.000000001' })),
  'another payer': (messages) => messages.map((one) => ({ ...one, payer_account_id: '0.0.2' })),
  'a missing message': (messages) => messages.slice(1),
  'a doubled message': (messages) => messages.flatMap((one) => [one, one]),
};

test('a mirror that lies confirms nothing, does not move the head, and is passed over for one that does not', async () => {
  await using directory = await temporaryDirectory();
  await using liar = await LyingMirror.before(ledger.mirrorUrl);
  const topicId = await ledger.createTopic();
  let node = await AnchoringNode.start(directory.path, { config: ledger.config(topicId, { mirrors: [liar.url] }) });
  try {
    let batch = 0;
    for (const [name, lie] of Object.entries(LIES)) {
      const { refused, head } = (await node.anchoring.state()).topic;
      liar.lie = lie;
      // Two, so that a mirror can leave out the first and show the second.
      await node.seal(++batch);
      await node.seal(++batch);
      await until(`refused: ${name}`, async () => (await node.anchoring.state()).topic.refused > refused);
      assert.not(await node.isConfirmed(batch), name);
      assert.is((await node.anchoring.state()).topic.head.sequence, head.sequence, name);
      liar.lie = truth;
      await node.allConfirmed([batch - 1, batch]);
    }
    await node[Symbol.asyncDispose]();
    liar.lie = LIES['other bytes'] ?? truth;
    const mirrors = [liar.url, ledger.mirrorUrl];
    node = await AnchoringNode.start(directory.path, { config: ledger.config(topicId, { mirrors }) });
    await node.seal(batch + 1);
    await node.allConfirmed([batch + 1]);
  } finally {
    await node[Symbol.asyncDispose]();
  }
});

test('a mirror that withholds messages delays only while it is the only one', async () => {
  await using directory = await temporaryDirectory();
  await using silent = await LyingMirror.before(ledger.mirrorUrl);
  silent.lie = () => [];
  const topicId = await ledger.createTopic();
  const mirrors = [silent.url, ledger.mirrorUrl];
  await using node = await AnchoringNode.start(directory.path, { config: ledger.config(topicId, { mirrors }) });
  await node.seal(1);
  await node.allConfirmed([1]);
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

test('whoever else writes to the topic takes no place away: rivals and repeats are told apart from the first', async () => {
  await using directory = await temporaryDirectory();
  const topicId = await ledger.createTopic();
  await using stranger = new HederaClient(ledger.strangerConfig(topicId));
  const own = sealedBatch(1);
  const forged = anchorMessage(own).replace(/"keyId":"sha256:../, '"keyId":"sha256:00');
  for (const text of ['hello', '{"v":1}', anchorMessage(sealedBatch(1, 1)), forged, anchorMessage(own)]) {
    await post(stranger, text);
  }
  const otherFederation = anchorMessage(own).replace(FEDERATION, envelopeHash(own));
  await post(stranger, otherFederation);
  await using node = await AnchoringNode.start(directory.path, { config: ledger.config(topicId) });
  await until('read', async () => (await node.anchoring.state()).topic.head.sequence === 6);
  await node.seal(1);
  await node.allConfirmed([1]);
  assert.is((await node.anchoring.status(1))?.attempts, 0, 'it stood on the ledger before it was sent');
  const anchor = await node.anchoring.envelopeAnchor(own.envelope, own.signed.statement);
  assert.is(anchor?.sequence, '5');
  assert.is(anchor?.message, anchorMessage(own));
  const rival = sealedBatch(1, 1);
  assert.is((await node.anchoring.envelopeAnchor(rival.envelope, rival.signed.statement))?.sequence, '3');
  assert.is((await node.anchoring.state()).topic.skipped, 3);
  const kept: string[] = [];
  for await (const [, row] of anchorTable.under(node.store, [NODE, 1])) kept.push(row.anchor.sequence);
  assert.equal(kept.toSorted(), ['3', '4', '5']);
  await post(stranger, anchorMessage(own));
  await until('repeat read', async () => (await node.anchoring.state()).topic.head.sequence === 7);
  assert.is((await node.anchoring.envelopeAnchor(own.envelope, own.signed.statement))?.sequence, '5');
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

async function post(client: HederaClient, text: string): Promise<void> {
  const prepared = await client.prepare(text);
  assert.is(await client.submit(prepared), 'accepted');
  await until('receipt', async () => (await client.receipt(prepared.transactionId)) === 'success');
}

function flipFirst(base64: string): string {
  return (base64.startsWith('A') ? 'B' : 'A') + base64.slice(1);
}

test.run();
