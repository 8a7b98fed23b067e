import { proto } from '@hiero-ledger/proto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SECOND } from '../../../cluster/ledger/consensus-time.ts';
import { Ledger } from '../../../cluster/ledger/ledger.ts';
import type { LedgerOptions } from '../../../cluster/ledger/ledger.ts';
import { temporaryDirectory } from './running-ledger.ts';
import { StoppedClock, messageTo, newPayer, signedTransaction, topicCreation } from './signed-transaction.ts';

const NODE = 3n;
const FIRST_TOPIC = 5_001n;
const payer = newPayer();
const accounts = [{ num: payer.num, key: { ed25519: payer.publicKey }, tinybars: 10n ** 15n }];

async function openLedger(directory: string, options: Partial<LedgerOptions> = {}): Promise<Ledger> {
  return Ledger.open({ directory, nodes: [NODE], accounts, roundMs: 1, throttlePerSecond: 1e9, ...options });
}

test('remembers ids for 180 seconds of traffic, however long the history', async () => {
  await using directory = await temporaryDirectory();
  const clock = new StoppedClock();
  const ledger = await openLedger(directory.path, { clock: clock.now });
  let mostRemembered = 0;
  ledger.submit(signedTransaction(payer, clock.time - 1n, topicCreation()), NODE);
  await settled(ledger);
  for (let round = 0; round < 100; round++) {
    clock.time += 10n * SECOND;
    for (let i = 1n; i <= 200n; i++) {
      ledger.submit(
        signedTransaction(payer, clock.time - i, messageTo(FIRST_TOPIC, Buffer.from(`${round}/${i}`))),
        NODE,
      );
    }
    await settled(ledger);
    mostRemembered = Math.max(mostRemembered, ledger.accepted.remembered);
  }
  assert.is(ledger.state.head.transactions, 20_001);
  assert.is(ledger.state.topics.get(FIRST_TOPIC)?.sequence, 20_000n);
  assert.ok(mostRemembered <= 200 * 20, `${mostRemembered} ids in memory`);
  await ledger[Symbol.asyncDispose]();

  const again = await openLedger(directory.path, { clock: clock.now });
  assert.is(again.state.topics.get(FIRST_TOPIC)?.sequence, 20_000n);
  assert.ok(again.accepted.remembered <= mostRemembered);
  await again[Symbol.asyncDispose]();
});

test('refuses a duplicate before and after consensus, and after a restart', async () => {
  await using directory = await temporaryDirectory();
  const clock = new StoppedClock();
  const bytes = signedTransaction(payer, clock.time - 1n, topicCreation());
  const ledger = await openLedger(directory.path, { clock: clock.now });
  ledger.submit(bytes, NODE);
  assert.throws(() => ledger.submit(bytes, NODE), /DUPLICATE_TRANSACTION/);
  await settled(ledger);
  assert.throws(() => ledger.submit(bytes, NODE), /DUPLICATE_TRANSACTION/);
  await ledger[Symbol.asyncDispose]();
  const again = await openLedger(directory.path, { clock: clock.now });
  assert.throws(() => again.submit(bytes, NODE), /DUPLICATE_TRANSACTION/);
  clock.time += 181n * SECOND;
  assert.throws(() => again.submit(bytes, NODE), /TRANSACTION_EXPIRED/);
  await again[Symbol.asyncDispose]();
});

test('a transaction that expires while it waits is stored as expired and costs nothing', async () => {
  await using directory = await temporaryDirectory();
  const clock = new StoppedClock();
  await using ledger = await openLedger(directory.path, { clock: clock.now });
  ledger.faults.set({ roundPaused: true });
  ledger.submit(signedTransaction(payer, clock.time - 1n, topicCreation()), NODE);
  clock.time += 121n * SECOND;
  ledger.faults.set({ roundPaused: false });
  await settled(ledger);
  for await (const row of ledger.store.transactions.rows()) {
    assert.is(row.status, proto.ResponseCodeEnum.TRANSACTION_EXPIRED);
    assert.is(row.fee, 0n);
  }
  assert.is(ledger.state.head.transactions, 1);
  assert.is(ledger.state.topics.size, 0);
});

test('consensus times rise strictly, also while the system clock stands or goes back', async () => {
  await using directory = await temporaryDirectory();
  const clock = new StoppedClock();
  await using ledger = await openLedger(directory.path, { clock: clock.now });
  for (let i = 1n; i <= 20n; i++) {
    ledger.submit(signedTransaction(payer, clock.time - i, topicCreation()), NODE);
    if (i % 5n === 0n) await settled(ledger);
    if (i === 10n) clock.time -= SECOND;
  }
  let last = 0n;
  for await (const { at } of ledger.store.transactions.rows()) {
    assert.ok(at > last);
    last = at;
  }
  assert.is(ledger.consensusClock, last);
});

test('a round that cannot be written is not shown, and ends the ledger', async () => {
  await using directory = await temporaryDirectory();
  const clock = new StoppedClock();
  await using ledger = await openLedger(directory.path, { clock: clock.now });
  await ledger.store[Symbol.asyncDispose]();
  ledger.submit(signedTransaction(payer, clock.time - 1n, topicCreation()), NODE);
  await assertRejects(ledger.finished, /not open/i);
  assert.is(ledger.state.topics.size, 0);
  assert.is(ledger.state.head.transactions, 0);
  const next = signedTransaction(payer, clock.time - 2n, topicCreation());
  assert.throws(() => ledger.submit(next, NODE), /PLATFORM_NOT_ACTIVE/);
});

test('answers BUSY above its rate', async () => {
  await using directory = await temporaryDirectory();
  const clock = new StoppedClock();
  await using ledger = await openLedger(directory.path, { clock: clock.now, throttlePerSecond: 2 });
  const send = (i: bigint): unknown => ledger.submit(signedTransaction(payer, clock.time - i, topicCreation()), NODE);
  send(1n);
  send(2n);
  assert.throws(() => send(3n), /BUSY/);
  clock.time += SECOND;
  send(4n);
});

test('refuses transactions meant for another node, oversized ones and such as it cannot read', async () => {
  await using directory = await temporaryDirectory();
  const clock = new StoppedClock();
  await using ledger = await openLedger(directory.path, { clock: clock.now });
  const bytes = signedTransaction(payer, clock.time - 1n, topicCreation());
  assert.throws(() => ledger.submit(bytes, 4n), /INVALID_NODE_ACCOUNT/);
  assert.throws(() => ledger.submit(new Uint8Array(6_145), NODE), /TRANSACTION_OVERSIZE/);
  assert.throws(() => ledger.submit(Buffer.from('nonsense'), NODE), /INVALID_TRANSACTION/);
  assert.throws(() => ledger.submit(new Uint8Array(), NODE), /INVALID_TRANSACTION/);
  const unknown = signedTransaction(payer, clock.time - 1n, { fileCreate: {} });
  assert.throws(() => ledger.submit(unknown, NODE), /NOT_SUPPORTED/);
});

test('any changed byte of the signed body or the signature is refused', async () => {
  await using directory = await temporaryDirectory();
  const clock = new StoppedClock();
  await using ledger = await openLedger(directory.path, { clock: clock.now });
  const bytes = signedTransaction(payer, clock.time - 1n, messageTo(FIRST_TOPIC, Buffer.from('as it was signed')));
  const { bodyBytes, sigMap } = proto.SignedTransaction.decode(proto.Transaction.decode(bytes).signedTransactionBytes);
  for (const part of [bodyBytes, sigMap?.sigPair?.[0]?.ed25519 ?? bodyBytes]) {
    const start = Buffer.from(bytes).indexOf(part);
    for (let at = start; at < start + part.length; at++) {
      const changed = Uint8Array.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      assert.throws(() => ledger.submit(changed, NODE));
    }
  }
  ledger.submit(bytes, NODE);
});

test('a node that cannot pay from a known account is refused, and money is conserved', async () => {
  await using directory = await temporaryDirectory();
  const clock = new StoppedClock();
  const poor = newPayer(1_002n);
  const both = [...accounts, { num: poor.num, key: { ed25519: poor.publicKey }, tinybars: 1n }];
  await using ledger = await openLedger(directory.path, { clock: clock.now, accounts: both });
  const sum = (): bigint => [...ledger.state.accounts.values()].reduce((total, { balance }) => total + balance, 0n);
  const before = sum();
  const bytes = signedTransaction(poor, clock.time - 1n, topicCreation());
  assert.throws(() => ledger.submit(bytes, NODE), /INSUFFICIENT_PAYER_BALANCE/);
  const stranger = signedTransaction(newPayer(1_003n), clock.time - 1n, topicCreation());
  assert.throws(() => ledger.submit(stranger, NODE), /PAYER_ACCOUNT_NOT_FOUND/);
  ledger.submit(signedTransaction(payer, clock.time - 1n, topicCreation()), NODE);
  await settled(ledger);
  assert.is(sum(), before);
  assert.ok((ledger.state.accounts.get(NODE)?.balance ?? 0n) > 0n);
});

test('refuses an account under another key, and numbers that belong to the network or to topics', async () => {
  await using directory = await temporaryDirectory();
  await (await openLedger(directory.path))[Symbol.asyncDispose]();
  const other = { num: payer.num, key: { ed25519: newPayer().publicKey }, tinybars: 1n };
  await assertRejects(openLedger(directory.path, { accounts: [other] }), /another key/);
  for (const num of [98n, FIRST_TOPIC]) {
    await assertRejects(openLedger(directory.path, { accounts: [{ ...other, num }] }), /not free/);
  }
});

async function settled(ledger: Ledger): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const isSettled = (): boolean => ledger.accepted.unsettled === 0;
  if (isSettled()) return;
  const stop = ledger.onClock(() => isSettled() && resolve());
  await promise;
  stop();
}

async function assertRejects(promise: Promise<unknown>, expected: RegExp): Promise<void> {
  try {
    await promise;
  } catch (error) {
    assert.match(String(error), expected);
    return;
  }
  assert.unreachable('it should have been refused');
}

test.run();
