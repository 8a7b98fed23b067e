import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { preparedKeyTable } from '../../../node/payload/payload-keys.ts';
import { paymentDraftTable, paymentTable } from '../../../node/payments/payment-tables.ts';
import { preparedRow } from '../../../node/payments/prepared-rows.ts';
import { walletAddress } from '../../../protocol/payments/payment.ts';
import { priceOf } from '../../../protocol/payments/prices.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { HONEST } from './fake-chain.ts';
import { bodyOf, callOf, nonceOf, PaymentRoom, recordsOf, START, told, worked } from './payment-room.ts';

const MINUTE = 60_000;
const BATCH = 'tiered-attest-batch-xl';
const BATCH_PRICE = Number(priceOf(BATCH));
const PRICE = Number(priceOf('hedera-fact'));

async function preparedOf({ opened: { store } }: PaymentRoom): Promise<number> {
  return (await Array.fromAsync(paymentDraftTable.under(store, []))).length;
}

/** What is in the store of payments and of what was prepared for them. */
async function traces({ opened: { store } }: PaymentRoom): Promise<string[]> {
  const keys = (await Array.fromAsync(store.range({}))).map(([key]) => key);
  return keys.filter((key) => key.startsWith('payment') || key.startsWith('payload'));
}

test('work is prepared in private: nothing is recorded before the payee has the money', async () => {
  await using room = await PaymentRoom.open();
  const { settle } = room.chain;
  const seen: unknown[] = [];
  room.chain.settle = async (payment) => {
    seen.push(await preparedOf(room), (await recordsOf(room.opened.store)).length);
    return settle.call(room.chain, payment);
  };
  await room.take(callOf());
  assert.equal(seen, [2, 0]);
  assert.equal([await preparedOf(room), (await recordsOf(room.opened.store)).length], [0, 2]);
});

test('a settlement whose fate is known after an hour: records and answer are of then, and as they were prepared', async () => {
  await using room = await PaymentRoom.open();
  const call = callOf({ validBefore: 7_200 });
  room.chain.behaviour = { ...HONEST, settle: 'late', look: 'unknown' };
  assert.is(await room.answer(call), 'outcome-unknown');
  const prepared = await Array.fromAsync(paymentDraftTable.under(room.opened.store, []));
  const ids = prepared.map(([, bytes]) => preparedRow(bytes).id);
  for (let minute = 0; minute < 60; minute++) {
    room.clock += MINUTE;
    if (minute === 30) await room.restart();
    await room.opened.upkeep.look();
    if (minute % 20 === 0) assert.is(await room.answer(call), 'outcome-unknown');
    assert.equal(await recordsOf(room.opened.store), []);
  }
  room.chain.arrive();
  room.chain.behaviour = HONEST;
  await room.opened.upkeep.look();
  assert.equal(new Set((await recordsOf(room.opened.store)).map(([id]) => id)), new Set(ids));
  const then = room.clock;
  room.clock += MINUTE;
  const outcome = await room.take(call);
  const { made, ids: answered } = Object(outcome.body);
  assert.equal([answered, made.at, outcome.isReplay], [ids, timestampOf(then), true]);
  assert.match(made.in, /^sha256:/);
  assert.equal([room.chain.paid.length, room.opened.ledger.head.entries, await preparedOf(room)], [1, 1, 0]);
});

test('a settlement that never comes: once its authorization is over, nothing is left of payment and work', async () => {
  await using room = await PaymentRoom.open();
  room.chain.behaviour = { ...HONEST, settle: 'hangs-before', look: 'unknown' };
  assert.is(await room.answer(callOf({ identifier: 'pay_0123456789abcdef' })), 'outcome-unknown');
  room.chain.behaviour = HONEST;
  await room.opened.upkeep.look();
  assert.is(await preparedOf(room), 2);
  room.clock += 400_000;
  await room.opened.upkeep.look();
  assert.equal([await traces(room), await recordsOf(room.opened.store)], [[], []]);
});

for (const settle of ['refuses', 'unavailable', 'robbed'] as const) {
  test(`a wallet that cannot pay once the work is done leaves no record, and later nothing at all: ${settle}`, async () => {
    await using room = await PaymentRoom.open();
    room.chain.behaviour = { ...HONEST, settle };
    assert.type(await room.answer(callOf()), 'string');
    room.clock += 400_000;
    await room.opened.upkeep.look();
    assert.equal([await traces(room), await recordsOf(room.opened.store)], [[], []]);
  });
}

test('what the node itself did not settle leaves nothing at once; the signature is as good as new', async () => {
  await using room = await PaymentRoom.open();
  room.chain.behaviour = { ...HONEST, settle: 'declines' };
  assert.is(await room.answer(callOf({ identifier: 'pay_0123456789abcdef' })), 'settlement-failed');
  assert.equal([await traces(room), await recordsOf(room.opened.store)], [[], []]);
  room.chain.behaviour = HONEST;
  assert.type(await room.answer(callOf({ request: 'other' })), 'object');
});

test('a payment that was refused and comes through without its payer is published all the same', async () => {
  await using room = await PaymentRoom.open();
  room.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await room.answer(callOf()), 'settlement-failed');
  room.chain.spend(nonceOf(1), 'paid');
  room.clock += 400_000;
  await room.opened.upkeep.look();
  assert.equal([(await recordsOf(room.opened.store)).length, room.opened.ledger.head.entries], [2, 1]);
});

test('parallel calls of a wallet are good for what it has: what goes over it is refused before any work', async () => {
  await using room = await PaymentRoom.open();
  room.chain.funds = 2 * PRICE;
  const outcomes = await Promise.all([1, 2, 3, 4, 5].map((nonce) => room.answer(callOf({ nonce }))));
  assert.is(outcomes.filter((outcome) => typeof outcome === 'object').length, 2);
  assert.equal(
    outcomes.filter((outcome) => typeof outcome === 'string'),
    ['refused', 'refused', 'refused'],
  );
  assert.equal([room.chain.settles, (await recordsOf(room.opened.store)).length], [2, 4]);
});

test('what is open counts against the balance, a restart later too, until it is over', async () => {
  await using room = await PaymentRoom.open();
  room.chain.funds = PRICE;
  room.chain.behaviour = { ...HONEST, settle: 'hangs-before' };
  assert.is(await room.answer(callOf()), 'outcome-unknown');
  room.chain.behaviour = HONEST;
  assert.is(await room.answer(callOf({ nonce: 2, validBefore: 900 })), 'refused');
  await room.restart();
  assert.is(await room.answer(callOf({ nonce: 2, validBefore: 900 })), 'refused');
  room.clock += 400_000;
  await room.opened.upkeep.look();
  assert.type(await room.answer(callOf({ nonce: 2, validBefore: 900 })), 'object');
});

test('eighteen thousand records for the price of none: a wallet that never paid has one batch in flight', async () => {
  await using room = await PaymentRoom.open();
  room.chain.funds = BATCH_PRICE;
  room.chain.behaviour = { ...HONEST, settle: 'refuses' };
  const all = [1, 2, 3, 4].map((nonce) => room.answer(callOf({ nonce, service: BATCH })));
  assert.equal((await Promise.all(all)).sort(), ['settlement-failed', 'wallet-busy', 'wallet-busy', 'wallet-busy']);
  assert.is(await room.answer(callOf({ nonce: 5, service: BATCH })), 'wallet-busy', 'the first may still be paid');
  assert.equal(await recordsOf(room.opened.store), []);
  room.chain.behaviour = HONEST;
  assert.type(await room.answer(callOf({ nonce: 1, service: BATCH })), 'object');
  room.chain.funds *= 10;
  const more = [6, 7].map((nonce) => room.answer(callOf({ nonce, service: BATCH })));
  assert.equal((await Promise.all(more)).map((outcome) => typeof outcome), ['object', 'object']);
});

test('a wallet holds nobody else up', async () => {
  await using room = await PaymentRoom.open();
  room.chain.behaviour = { ...HONEST, settle: 'late' };
  assert.is(await room.answer(callOf({ service: BATCH })), 'outcome-unknown');
  room.chain.behaviour = HONEST;
  const from = walletAddress(`0x${'b'.repeat(40)}`);
  assert.type(await room.answer(callOf({ nonce: 2, service: BATCH, from })), 'object');
});

test('where records could not be made now, nobody is charged for them', async () => {
  await using room = await PaymentRoom.open();
  room.isQueueFull = true;
  assert.match(String(await room.answer(callOf())), /queue is full/);
  assert.equal([room.chain.settles, await traces(room)], [0, []]);
  room.isQueueFull = false;
  assert.type(await room.answer(callOf()), 'object');
});

test('where records cannot be made after the settlement, they are made as soon as they can, for one charge', async () => {
  await using room = await PaymentRoom.open();
  room.isIntakeStopped = true;
  assert.is(await room.answer(callOf()), 'not-published');
  assert.is(await room.answer(callOf()), 'not-published');
  await room.restart();
  await room.opened.upkeep.look();
  assert.equal(await recordsOf(room.opened.store), []);
  room.isIntakeStopped = false;
  room.clock += MINUTE;
  await room.opened.upkeep.look();
  assert.is((await recordsOf(room.opened.store)).length, 2, 'made without their payer');
  const { made } = Object(bodyOf(await room.answer(callOf())));
  assert.is(made.at, timestampOf(START + MINUTE));
  assert.equal([room.chain.settles, (await recordsOf(room.opened.store)).length], [1, 2]);
});

test('records that other members gave back after a restored copy are not made twice, and have no key left', async () => {
  await using room = await PaymentRoom.open();
  const { store } = room.opened;
  room.isIntakeStopped = true;
  await room.answer(callOf());
  const prepared = await Array.fromAsync(paymentDraftTable.under(store, []));
  const ids = prepared.map(([, bytes]) => preparedRow(bytes).id);
  await room.giveBack(prepared.map(([, bytes]) => preparedRow(bytes)));
  // One of them was erased since, which is known by the record of its erasure.
  await store.write(ids.slice(0, 1).map((id) => preparedKeyTable.del(id)));
  room.isIntakeStopped = false;
  room.clock += MINUTE;
  const { made } = Object(bodyOf(await room.answer(callOf())));
  assert.is(made.at, timestampOf(START));
  assert.is((await recordsOf(store)).length, 2);
  for (const id of ids) assert.is(await preparedKeyTable.get(store, id), undefined);
});

test('a prepared payload is not readable on the disk, and its key stands in one place alone', async () => {
  await using room = await PaymentRoom.open();
  room.chain.behaviour = { ...HONEST, settle: 'late' };
  const call = callOf();
  await room.answer(call, async (recording) => {
    const draft = { kind: 'decision', account: 'x402', sourceId: 's', links: {} } as const;
    const payload = '{"text":"a very private prompt"}';
    const { id } = await recording.prepareOne({ ...draft, payload, claims: { channel: 'tiered' } });
    return { body: { id } };
  });
  const rows = await Array.fromAsync(room.opened.store.range({}));
  const texts = rows.map(([key, value]) => [key, Buffer.from(value).toString('latin1')] as const);
  assert.not.ok(texts.some(([, text]) => text.includes('private')));
  const [, seed = ''] = texts.find(([key]) => key.startsWith('payload-key/')) ?? [];
  assert.ok(seed.length > 0);
  assert.is(texts.filter(([, text]) => text.includes(seed)).length, 1);
});

test('the write that makes a record takes its key away from under its id', async () => {
  await using room = await PaymentRoom.open();
  const { store } = room.opened;
  const keys = async () => (await Array.fromAsync(preparedKeyTable.under(store, []))).length;
  room.isIntakeStopped = true;
  await room.answer(callOf());
  assert.equal([await keys(), (await recordsOf(store)).length], [2, 0]);
  room.isIntakeStopped = false;
  room.clock += MINUTE;
  await room.answer(callOf());
  assert.equal([await keys(), (await recordsOf(store)).length], [0, 2]);
});

test('an answer shown again is that of the first call, whatever the work would say now', async () => {
  await using room = await PaymentRoom.open();
  room.chain.behaviour = { ...HONEST, settle: 'refuses' };
  await room.answer(callOf());
  const [first] = await Array.fromAsync(paymentTable.under(room.opened.store, []));
  assert.is(first?.[1].state, 'unpaid');
  room.chain.behaviour = HONEST;
  const other = worked(callOf({ nonce: 9 }));
  const body = bodyOf(await room.answer(callOf(), other));
  assert.equal(told(await room.answer(callOf(), other)), body);
  assert.ok((await recordsOf(room.opened.store)).every(([, source]) => source === nonceOf(1)));
});

test.run();
