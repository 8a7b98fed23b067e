import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AnchoringNode, temporaryDirectory } from './anchoring-node.ts';
import { LedgerProcess } from './ledger/ledger-process.ts';

const BATCHES = 24;
/** The mirror lags as a real one does: what is on the ledger cannot be seen there until it is too late to ask. */
const CHAOS = {
  hangAfterAccept: 0.5,
  lostBeforeConsensus: 0.1,
  busy: 0.35,
  unavailable: 0.35,
  receiptUnavailable: 0.5,
  mirrorLagMs: 5_000,
};
const CALM = Object.fromEntries(Object.keys(CHAOS).map((fault) => [fault, 0]));
const CALM_AFTER_MS = 10_000;
const CONFIRM_MS = 45_000;

test('through hung, lost, busy and refused calls, kills of the ledger and of the node: every batch exactly once', async () => {
  await using directory = await temporaryDirectory();
  await using ledger = await LedgerProcess.start();
  const topicId = await ledger.createTopic();
  const options = { config: ledger.config(topicId, { validSeconds: 20 }) };
  await ledger.setFaults(CHAOS);

  let node = await AnchoringNode.start(directory.path, options);
  const started = Date.now();
  for (let batch = 1; batch <= BATCHES; batch++) {
    await node.seal(batch);
    if (batch % 6 === 0) {
      await sleep(400);
      await node[Symbol.asyncDispose]();
      node = await AnchoringNode.start(directory.path, options);
    }
    if (batch === 14) {
      await ledger.kill();
      await ledger.resume();
      await ledger.setFaults(CHAOS);
    }
  }
  try {
    await sleep(Math.max(0, started + CALM_AFTER_MS - Date.now()));
    await ledger.setFaults(CALM);
    const batches = Array.from({ length: BATCHES }, (_, i) => i + 1);
    await node.allConfirmed(batches, CONFIRM_MS);
    const counts = await ledger.messageCounts(topicId);
    assert.is(counts.size, BATCHES);
    assert.equal(
      [...counts.values()].filter((count) => count !== 1),
      [],
    );
    const state = await node.anchoring.state();
    assert.is(state.backlog, 0);
  } finally {
    await node[Symbol.asyncDispose]();
  }
});

test.run();
