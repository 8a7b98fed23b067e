import { Status, TopicCreateTransaction, TopicMessageSubmitTransaction } from '@hashgraph/sdk';
import type { Client, Transaction } from '@hashgraph/sdk';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { NO_FAULTS } from '../../../cluster/ledger/faults.ts';
import { receiptOf } from '../../../cluster/ledger/receipts.ts';
import { Refused } from '../../../cluster/ledger/refused.ts';
import { codeName } from '../../../cluster/ledger/wire.ts';
import { runLedger, statusOfFailure, waitUntil } from './running-ledger.ts';

/** Every fault, by its effect on a client of the network. */
const test = suite('faults of the local ledger');

const running = await runLedger();
const { ledger } = running.local;
const client = patientClient();
const created = await new TopicCreateTransaction().execute(client);
const topic = String((await created.getReceipt(client)).topicId);

test.after.each(async () => {
  await running.setFaults(NO_FAULTS);
});

test('the SDK gets through BUSY and nodes that are unavailable', async () => {
  await running.setFaults({ busy: 0.3, notCreated: 0.2, unavailable: 0.2 });
  const response = await message('through the storm').execute(client);
  assert.is((await response.getReceipt(client)).status, Status.Success);
});

test('a transaction lost before consensus is taken once more when sent again', async () => {
  const frozen = message('lost').freezeWith(client);
  await running.setFaults({ lostBeforeConsensus: 1 });
  await send(frozen);
  await waitUntil(() => ledger.accepted.unsettled === 0);
  assert.is(await receiptStatus(frozen), 'RECEIPT_NOT_FOUND');
  await running.setFaults({ lostBeforeConsensus: 0 });
  await send(frozen);
  await waitUntil(async () => (await receiptStatus(frozen)) === 'SUCCESS');
});

test('an answer that never comes leaves a transaction that is there all the same', async () => {
  const frozen = message('hung').freezeWith(client);
  await running.setFaults({ hangAfterAccept: 1 });
  const impatient = patientClient().setGrpcDeadline(200).setRequestTimeout(600).setMaxAttempts(1);
  assert.ok(await statusOfFailure(again(frozen).execute(impatient)), 'the client is left without an answer');
  await waitUntil(async () => (await receiptStatus(frozen)) === 'SUCCESS');
  assert.is(await statusOfFailure(send(frozen)), 'DUPLICATE_TRANSACTION');
});

test('a receipt can be unavailable while the mirror already has the transaction', async () => {
  const frozen = message('receipt').freezeWith(client);
  await send(frozen);
  await waitUntil(() => ledger.accepted.unsettled === 0);
  await running.setFaults({ receiptUnavailable: 1 });
  assert.is(await receiptStatus(frozen), 'UNKNOWN');
  assert.is((await running.get(`/api/v1/transactions/${restId(frozen)}`)).status, 200);
});

test('with rounds paused nothing reaches consensus and the clock stands', async () => {
  await running.setFaults({ roundPaused: true });
  const clock = ledger.consensusClock;
  const frozen = message('paused').freezeWith(client);
  await send(frozen);
  await new Promise((resolve) => setTimeout(resolve, 700));
  assert.is(await receiptStatus(frozen), 'UNKNOWN');
  assert.is(ledger.consensusClock, clock);
  await running.setFaults({ roundPaused: false });
  await waitUntil(async () => (await receiptStatus(frozen)) === 'SUCCESS');
});

test('a mirror that lags shows neither the transaction nor a clock past it, and then both', async () => {
  await running.setFaults({ mirrorLagMs: 600_000 });
  const frozen = message('lagging').freezeWith(client);
  await send(frozen);
  await waitUntil(async () => (await receiptStatus(frozen)) === 'SUCCESS');
  assert.is((await running.get(`/api/v1/transactions/${restId(frozen)}`)).status, 404);
  assert.is((await running.get(`/api/v1/topics/${topic}`)).status, 404);
  await running.setFaults({ mirrorLagMs: 0 });
  assert.is((await running.get(`/api/v1/transactions/${restId(frozen)}`)).status, 200);
});

test('a mirror that is down says so, and its faults can still be set', async () => {
  await running.setFaults({ mirrorDown: true });
  assert.is((await running.get('/api/v1/blocks')).status, 503);
  assert.equal((await running.get('/local/faults')).body, { ...NO_FAULTS, mirrorDown: true });
  await running.setFaults({ mirrorDown: false });
  assert.is((await running.get('/api/v1/blocks')).status, 200);
});

test('refuses unknown faults, values out of range and other content types, and then changes nothing', async () => {
  const wrong = [{ fire: 1 }, { busy: 1.1 }, { busy: -0.1 }, { busy: true }, { mirrorDown: 1 }, { mirrorLagMs: 0.5 }];
  for (const faults of [...wrong, { busy: 0.5, fire: 1 }]) {
    assert.is((await running.setFaults(faults)).status, 400, JSON.stringify(faults));
  }
  const asText = await fetch(`${running.local.mirrorUrl}/local/faults`, { method: 'POST', body: '{"busy":1}' });
  assert.is(asText.status, 415);
  assert.equal((await running.get('/local/faults')).body, NO_FAULTS);
});

test.after(async () => {
  await running[Symbol.asyncDispose]();
  // A timer inside the SDK would keep the process for ten more seconds.
  setImmediate(() => process.exit());
});

/**
 * Retries soon, so that the test is short; waits for answers as long as the SDK does by default.
 *
 * The SDK gives up as soon as every node it knows has just failed. A node is therefore asked again after a
 * millisecond, which is shorter than the wait before any retry.
 */
function patientClient(): Client {
  return running
    .client()
    .setMinBackoff(10)
    .setMaxBackoff(50)
    .setNodeMinBackoff(1)
    .setNodeMaxBackoff(1)
    .setNodeMinReadmitPeriod(1)
    .setNodeMaxReadmitPeriod(1)
    .setMaxAttempts(40);
}

function message(text: string): TopicMessageSubmitTransaction {
  return new TopicMessageSubmitTransaction({ topicId: topic, message: text });
}

/** The same signed bytes for another attempt: an object of the SDK executes once. */
function again(frozen: TopicMessageSubmitTransaction): Transaction {
  return TopicMessageSubmitTransaction.fromBytes(frozen.toBytes());
}

async function send(frozen: TopicMessageSubmitTransaction): Promise<void> {
  await frozen.signWithOperator(client);
  await again(frozen).execute(client);
}

/** What a node answers to one receipt query; the SDK itself would go on asking. */
async function receiptStatus(frozen: TopicMessageSubmitTransaction): Promise<string> {
  try {
    return codeName((await receiptOf(ledger, String(frozen.transactionId))).status ?? 0);
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

function restId(frozen: TopicMessageSubmitTransaction): string {
  const [payer = '', start = ''] = String(frozen.transactionId).split('@');
  return `${payer}-${start.replace('.', '-')}`;
}

test.run();
