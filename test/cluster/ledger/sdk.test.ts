import { createHash } from 'node:crypto';
import {
  AccountBalanceQuery,
  AccountId,
  AccountInfoQuery,
  AddressBookQuery,
  FileId,
  Hbar,
  KeyList,
  NetworkVersionInfoQuery,
  PrivateKey,
  Timestamp,
  TopicCreateTransaction,
  TopicDeleteTransaction,
  TopicInfoQuery,
  TopicMessageQuery,
  TopicMessageSubmitTransaction,
  TopicUpdateTransaction,
  Transaction,
  TransactionId,
  TransactionReceiptQuery,
  TransactionRecordQuery,
  TransferTransaction,
} from '@hashgraph/sdk';
import type { Client, TopicMessage } from '@hashgraph/sdk';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { OPERATOR, OPERATOR_TINYBARS, runLedger, statusOfFailure } from './running-ledger.ts';

/** The unpatched SDK against the ledger: what a client of a Hedera network relies on. */
const test = suite('local ledger, through the SDK');

const running = await runLedger();
const { operatorKey } = running;
// Asks again soon: a receipt of this ledger takes milliseconds.
const client = running.client().setMinBackoff(20).setMaxBackoff(200);
const submitKey = PrivateKey.generateECDSA();
const adminKey = PrivateKey.generateED25519();
const topicId = await createTopic(new TopicCreateTransaction({ topicMemo: 'anchors' }).setSubmitKey(submitKey));

test('answers balance, version, account and the address book', async () => {
  const fresh = await new AccountBalanceQuery({ accountId: OPERATOR }).execute(client);
  assert.ok(BigInt(fresh.hbars.toTinybars().toString()) < OPERATOR_TINYBARS, 'the topic has been paid for');
  const version = await new NetworkVersionInfoQuery().execute(client);
  assert.is(version.servicesVersion.minor, 72);
  const info = await new AccountInfoQuery().setAccountId(OPERATOR).execute(client);
  assert.is(info.key.toString(), operatorKey.publicKey.toString());
  const book = await new AddressBookQuery().setFileId(FileId.ADDRESS_BOOK).execute(client);
  assert.is(book.nodeAddresses.length, 3);
  assert.match(book.nodeAddresses[0]?.description ?? '', /development ledger/);
});

test('a submitted message has a receipt, a paid record and changes the topic', async () => {
  const topic = await createTopic(new TopicCreateTransaction());
  const response = await new TopicMessageSubmitTransaction({ topicId: topic, message: 'hello' }).execute(client);
  const receipt = await response.getReceipt(client);
  assert.is(receipt.topicSequenceNumber?.toNumber(), 1);
  assert.is(receipt.topicRunningHash?.length, 48);
  const record = await new TransactionRecordQuery().setTransactionId(response.transactionId).execute(client);
  assert.equal(Buffer.from(record.transactionHash), Buffer.from(response.transactionHash));
  assert.ok(record.transactionFee.toTinybars().toNumber() > 0);
  const info = await new TopicInfoQuery().setTopicId(topic).execute(client);
  assert.is(info.sequenceNumber.toNumber(), 1);
  assert.equal(Buffer.from(info.runningHash), Buffer.from(receipt.topicRunningHash ?? []));
});

test('messages over 1024 bytes go in chunks only, and a subscriber gets them whole and in order', async () => {
  const topic = await createTopic(new TopicCreateTransaction());
  const large = Buffer.from(Array.from({ length: 5_000 }, (_, i) => i & 255));
  const received: TopicMessage[] = [];
  const arrived = Promise.withResolvers<void>();
  const subscription = new TopicMessageQuery({ topicId: topic }).setStartTime(0).subscribe(
    client,
    (_message, error) => arrived.reject(error),
    (delivered) => {
      received.push(delivered);
      if (received.length === 3) arrived.resolve();
    },
  );
  for (const content of ['first', large, 'last']) await submit(topic, content);
  await arrived.promise;
  subscription.unsubscribe();
  assert.equal(
    received.map(({ contents }) => Buffer.from(contents)),
    [Buffer.from('first'), large, Buffer.from('last')],
  );
  assert.is(received[1]?.chunks.length, 5);
  const inOne = new TopicMessageSubmitTransaction({ topicId: topic, message: Buffer.alloc(1_025) }).setChunkSize(2_048);
  assert.is(await settled(inOne), 'MESSAGE_SIZE_TOO_LARGE');
});

test('a topic with a submit key takes only what that key signed', async () => {
  assert.is(await settled(message('unsigned')), 'INVALID_SIGNATURE');
  assert.is(await settled(await signed(message('signed'), submitKey)), 'SUCCESS');
});

test('key lists need all of their keys, threshold keys their threshold', async () => {
  const [a, b, c] = [PrivateKey.generateED25519(), PrivateKey.generateECDSA(), PrivateKey.generateED25519()];
  const members = [a, b, c].map((key) => key.publicKey);
  const all = await createTopic(new TopicCreateTransaction().setSubmitKey(new KeyList(members)));
  const twoOfThree = await createTopic(new TopicCreateTransaction().setSubmitKey(new KeyList(members, 2)));
  assert.is(await settled(await signed(message('two', all), a, b)), 'INVALID_SIGNATURE');
  assert.is(await settled(await signed(message('three', all), a, b, c)), 'SUCCESS');
  assert.is(await settled(await signed(message('one', twoOfThree), b)), 'INVALID_SIGNATURE');
  assert.is(await settled(await signed(message('two', twoOfThree), b, c)), 'SUCCESS');
});

test('a payer whose key did not sign is refused by the node itself', async () => {
  const stranger = running.client(PrivateKey.generateED25519());
  assert.is(await statusOfFailure(message('x').execute(stranger)), 'INVALID_SIGNATURE');
});

test('the same frozen bytes count once, and their receipt is found by the id known beforehand', async () => {
  const frozen = (await signed(message('exactly once'), submitKey)).toBytes();
  await (await Transaction.fromBytes(frozen).execute(client)).getReceipt(client);
  assert.is(await statusOfFailure(Transaction.fromBytes(frozen).execute(client)), 'DUPLICATE_TRANSACTION');
  const id = Transaction.fromBytes(frozen).transactionId;
  const receipt = await new TransactionReceiptQuery().setTransactionId(id ?? '').execute(client);
  assert.is(receipt.status.toString(), 'SUCCESS');
});

test('the validity window is kept at both ends', async () => {
  const late = message('late').setTransactionId(startingIn(-130));
  assert.is(await statusOfFailure(late.execute(client)), 'TRANSACTION_EXPIRED');
  const early = message('early').setTransactionId(startingIn(60));
  assert.is(await statusOfFailure(early.execute(client)), 'INVALID_TRANSACTION_START');
  const long = message('long').setTransactionValidDuration(181);
  assert.is(await statusOfFailure(long.execute(client)), 'INVALID_TRANSACTION_DURATION');
});

test('missing topics, empty messages and low fees are refused', async () => {
  assert.is(await settled(message('x', '0.0.9999')), 'INVALID_TOPIC_ID');
  assert.ok(await statusOfFailure(message('').execute(client)));
  const cheap = message('cheap').setMaxTransactionFee(Hbar.fromTinybars(1));
  assert.is(await statusOfFailure(cheap.execute(client)), 'INSUFFICIENT_TX_FEE');
});

test('a topic is updated and deleted by its admin key alone', async () => {
  const topic = await createTopic(new TopicCreateTransaction().setAdminKey(adminKey).setSubmitKey(submitKey), adminKey);
  const update = (): TopicUpdateTransaction => new TopicUpdateTransaction({ topicId: topic, topicMemo: 'renamed' });
  assert.is(await settled(update()), 'INVALID_SIGNATURE');
  assert.is(await settled(await signed(update().setSubmitKey(new KeyList()), adminKey)), 'SUCCESS');
  const info = await new TopicInfoQuery().setTopicId(topic).execute(client);
  assert.is(info.topicMemo, 'renamed');
  assert.is(info.submitKey, null);
  assert.is(await settled(message('open now', topic)), 'SUCCESS');
  assert.is(await settled(new TopicUpdateTransaction({ topicId, topicMemo: 'x' })), 'UNAUTHORIZED');
  assert.is(await settled(new TopicDeleteTransaction({ topicId: topic })), 'INVALID_SIGNATURE');
  assert.is(await settled(await signed(new TopicDeleteTransaction({ topicId: topic }), adminKey)), 'SUCCESS');
  assert.is(await settled(message('x', topic)), 'INVALID_TOPIC_ID');
});

test('transfers move balances and must be balanced, covered and signed', async () => {
  const to = (amount: number, from = OPERATOR): TransferTransaction =>
    new TransferTransaction()
      .addHbarTransfer(from, Hbar.fromTinybars(-amount))
      .addHbarTransfer('0.0.3', Hbar.fromTinybars(amount));
  assert.is(await settled(to(1_000)), 'SUCCESS');
  assert.is(await settled(to(1, '0.0.98')), 'INVALID_SIGNATURE');
  assert.is(await settled(to(1, '0.0.4000')), 'INVALID_ACCOUNT_ID');
  const unbalanced = new TransferTransaction().addHbarTransfer(OPERATOR, Hbar.fromTinybars(-1));
  assert.is(await settled(unbalanced), 'INVALID_ACCOUNT_AMOUNTS');
});

test('the transaction hash is that of the signed bytes', async () => {
  const transaction = await signed(message('hash'), submitKey);
  const response = await transaction.execute(client);
  await response.getReceipt(client);
  const row = await running.local.ledger.store.timesById.get(idText(response.transactionId));
  const stored = await running.local.ledger.store.transactions.get(String(row).padStart(20, '0'));
  const hash = createHash('sha384')
    .update(stored?.signed ?? '')
    .digest();
  assert.equal(hash, Buffer.from(response.transactionHash));
});

test.after(async () => {
  await running[Symbol.asyncDispose]();
  // A timer inside the SDK would keep the process for ten more seconds.
  setImmediate(() => process.exit());
});

async function createTopic(transaction: TopicCreateTransaction, ...keys: PrivateKey[]): Promise<string> {
  const response = await (await signed(transaction, ...keys)).execute(client);
  return String((await response.getReceipt(client)).topicId);
}

function message(text: string | Uint8Array, topic = topicId): TopicMessageSubmitTransaction {
  return new TopicMessageSubmitTransaction({ topicId: topic, message: text });
}

async function submit(topic: string, text: string | Uint8Array): Promise<void> {
  for (const response of await message(text, topic).executeAll(client)) await response.getReceipt(client);
}

async function signed<T extends { freezeWith(c: Client): Transaction }>(
  transaction: T,
  ...keys: PrivateKey[]
): Promise<Transaction> {
  const frozen = transaction.freezeWith(client);
  for (const key of keys) await frozen.sign(key);
  return frozen;
}

/** Status that a transaction comes to, at the node or at consensus. */
async function settled(transaction: Transaction): Promise<string> {
  const failure = await statusOfFailure(transaction.execute(client).then((response) => response.getReceipt(client)));
  return failure ?? 'SUCCESS';
}

function startingIn(seconds: number): TransactionId {
  const start = Timestamp.fromDate(new Date(Date.now() + seconds * 1_000));
  return TransactionId.withValidStart(AccountId.fromString(OPERATOR), start);
}

function idText(id: TransactionId): string {
  const [payer = '', start = ''] = id.toString().split('@');
  const [seconds = '', nanos = ''] = start.split('.');
  return `${payer}@${seconds}.${nanos.padStart(9, '0')}`;
}

test.run();
