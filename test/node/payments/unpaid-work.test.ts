import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { preparedKeyTable } from '../../../node/records/payload/payload-keys.ts';
import { paymentDraftTable, paymentTable } from '../../../node/payments/payment-tables.ts';
import { preparedRow } from '../../../node/payments/prepared-rows.ts';
import { walletAddress } from '../../../protocol/payments/payment.ts';
import { priceOf } from '../../../protocol/payments/prices.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { HONEST } from './fake-chain.ts';
import { bodyOf, callOf, nonceOf, PAYER, PaymentFixture, recordsOf, START, told, worked } from './payment-fixture.ts';

const MINUTE = 60_000;
/** No answer of the chain is held up for so long. */
const LONG_MS = 60_000;
const BATCH = 'tiered-attest-batch-xl';
const BATCH_PRICE = Number(priceOf(BATCH));
const PRICE = Number(priceOf('hedera-fact'));

async function preparedOf({ opened: { store } }: PaymentFixture): Promise<number> {
  return (await Array.fromAsync(paymentDraftTable.under(store, []))).length;
}

/** What is in the store of payments and of what was prepared for them. */
async function traces({ opened: { store } }: PaymentFixture): Promise<string[]> {
  const keys = (await Array.fromAsync(store.range({}))).map(([key]) => key);
  return keys.filter((key) => key.startsWith('payment') || key.startsWith('payload'));
}

test('work is prepared in private: nothing is recorded before the payee has the money', async () => {
  // Nothing hangs here, and the store is read while the facilitator is at work.
  await using fixture = await PaymentFixture.open({ verifyMs: 10_000, settleMs: 10_000, chainMs: 10_000 });
  const { settle } = fixture.chain;
  const seen: unknown[] = [];
  fixture.chain.settle = async (payment) => {
    seen.push(await preparedOf(fixture), (await recordsOf(fixture.opened.store)).length);
    return settle.call(fixture.chain, payment);
  };
  await fixture.take(callOf());
  assert.equal(seen, [2, 0]);
  assert.equal([await preparedOf(fixture), (await recordsOf(fixture.opened.store)).length], [0, 2]);
});

test('a settlement whose fate is known after an hour: records and answer are of then, and as they were prepared', async () => {
  await using fixture = await PaymentFixture.open();
  const call = callOf({ validBefore: 7_200 });
  fixture.chain.behaviour = { ...HONEST, settle: 'late', look: 'unknown' };
  assert.is(await fixture.answer(call), 'outcome-unknown');
  const prepared = await Array.fromAsync(paymentDraftTable.under(fixture.opened.store, []));
  const ids = prepared.map(([, bytes]) => preparedRow(bytes).id);
  for (let minute = 0; minute < 60; minute++) {
    fixture.clock += MINUTE;
    if (minute === 30) await fixture.restart();
    await fixture.opened.upkeep.look();
    if (minute % 20 === 0) assert.is(await fixture.answer(call), 'outcome-unknown');
    assert.equal(await recordsOf(fixture.opened.store), []);
  }
  fixture.chain.arrive();
  fixture.chain.behaviour = HONEST;
  await fixture.opened.upkeep.look();
  assert.equal(new Set((await recordsOf(fixture.opened.store)).map(([id]) => id)), new Set(ids));
  const then = fixture.clock;
  fixture.clock += MINUTE;
  const outcome = await fixture.take(call);
  const { made, ids: answered } = Object(outcome.body);
  assert.equal([answered, made.at, outcome.isReplay], [ids, timestampOf(then), true]);
  assert.match(made.in, /^sha256:/);
  assert.equal([fixture.chain.paid.length, fixture.opened.ledger.head.entries, await preparedOf(fixture)], [1, 1, 0]);
});

test('a settlement that never comes: once its authorization is over, nothing is left of payment and work', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'hangs-before', look: 'unknown' };
  assert.is(await fixture.answer(callOf({ identifier: 'pay_0123456789abcdef' })), 'outcome-unknown');
  fixture.chain.behaviour = HONEST;
  await fixture.opened.upkeep.look();
  assert.is(await preparedOf(fixture), 2);
  fixture.clock += 400_000;
  await fixture.opened.upkeep.look();
  assert.equal([await traces(fixture), await recordsOf(fixture.opened.store)], [[], []]);
});

for (const settle of ['refuses', 'unavailable', 'robbed'] as const) {
  test(`a wallet that cannot pay once the work is done leaves no record, and later nothing at all: ${settle}`, async () => {
    await using fixture = await PaymentFixture.open();
    fixture.chain.behaviour = { ...HONEST, settle };
    assert.type(await fixture.answer(callOf()), 'string');
    fixture.clock += 400_000;
    await fixture.opened.upkeep.look();
    assert.equal([await traces(fixture), await recordsOf(fixture.opened.store)], [[], []]);
  });
}

test('what the node itself did not settle leaves nothing at once; the signature is as good as new', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'declines' };
  assert.is(await fixture.answer(callOf({ identifier: 'pay_0123456789abcdef' })), 'settlement-failed');
  assert.equal([await traces(fixture), await recordsOf(fixture.opened.store)], [[], []]);
  fixture.chain.behaviour = HONEST;
  assert.type(await fixture.answer(callOf({ request: 'other' })), 'object');
});

test('a payment that was refused and comes through without its payer is published all the same', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await fixture.answer(callOf()), 'settlement-failed');
  fixture.chain.spend(nonceOf(1), 'paid');
  fixture.clock += 400_000;
  await fixture.opened.upkeep.look();
  assert.equal([(await recordsOf(fixture.opened.store)).length, fixture.opened.ledger.head.entries], [2, 1]);
});

test('parallel calls of a wallet are good for what it has: what goes over it is refused before any work', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.funds = 2 * PRICE;
  const outcomes = await Promise.all([1, 2, 3, 4, 5].map((nonce) => fixture.answer(callOf({ nonce }))));
  assert.is(outcomes.filter((outcome) => typeof outcome === 'object').length, 2);
  assert.equal(
    outcomes.filter((outcome) => typeof outcome === 'string'),
    ['refused', 'refused', 'refused'],
  );
  assert.equal([fixture.chain.settles, (await recordsOf(fixture.opened.store)).length], [2, 4]);
});

test('what is open counts against the balance, a restart later too, until it is over', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.funds = PRICE;
  fixture.chain.behaviour = { ...HONEST, settle: 'hangs-before' };
  assert.is(await fixture.answer(callOf()), 'outcome-unknown');
  fixture.chain.behaviour = HONEST;
  assert.is(await fixture.answer(callOf({ nonce: 2, validBefore: 900 })), 'refused');
  await fixture.restart();
  assert.is(await fixture.answer(callOf({ nonce: 2, validBefore: 900 })), 'refused');
  fixture.clock += 400_000;
  await fixture.opened.upkeep.look();
  assert.type(await fixture.answer(callOf({ nonce: 2, validBefore: 900 })), 'object');
});

test('eighteen thousand records for the price of none: a wallet that never paid has one batch in flight', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.funds = BATCH_PRICE;
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  const all = [1, 2, 3, 4].map((nonce) => fixture.answer(callOf({ nonce, service: BATCH })));
  assert.equal((await Promise.all(all)).sort(), ['settlement-failed', 'wallet-busy', 'wallet-busy', 'wallet-busy']);
  assert.is(await fixture.answer(callOf({ nonce: 5, service: BATCH })), 'wallet-busy', 'the first may still be paid');
  assert.equal(await recordsOf(fixture.opened.store), []);
  fixture.chain.behaviour = HONEST;
  assert.type(await fixture.answer(callOf({ nonce: 1, service: BATCH })), 'object');
  fixture.chain.funds *= 10;
  const more = [6, 7].map((nonce) => fixture.answer(callOf({ nonce, service: BATCH })));
  assert.equal(
    (await Promise.all(more)).map((outcome) => typeof outcome),
    ['object', 'object'],
  );
});

test('a wallet holds nobody else up', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'late' };
  assert.is(await fixture.answer(callOf({ service: BATCH })), 'outcome-unknown');
  fixture.chain.behaviour = HONEST;
  const from = walletAddress(`0x${'b'.repeat(40)}`);
  assert.type(await fixture.answer(callOf({ nonce: 2, service: BATCH, from })), 'object');
});

test('where records could not be made now, nobody is charged for them', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.isQueueFull = true;
  assert.match(String(await fixture.answer(callOf())), /queue is full/);
  assert.equal([fixture.chain.settles, await traces(fixture)], [0, []]);
  fixture.isQueueFull = false;
  assert.type(await fixture.answer(callOf()), 'object');
});

test('where records cannot be made after the settlement, they are made as soon as they can, for one charge', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.isIntakeStopped = true;
  assert.is(await fixture.answer(callOf()), 'not-published');
  assert.is(await fixture.answer(callOf()), 'not-published');
  await fixture.restart();
  await fixture.opened.upkeep.look();
  assert.equal(await recordsOf(fixture.opened.store), []);
  fixture.isIntakeStopped = false;
  fixture.clock += MINUTE;
  await fixture.opened.upkeep.look();
  assert.is((await recordsOf(fixture.opened.store)).length, 2, 'made without their payer');
  const { made } = Object(bodyOf(await fixture.answer(callOf())));
  assert.is(made.at, timestampOf(START + MINUTE));
  assert.equal([fixture.chain.settles, (await recordsOf(fixture.opened.store)).length], [1, 2]);
});

test('records that other members gave back after a restored copy are not made twice, and have no key left', async () => {
  await using fixture = await PaymentFixture.open();
  const { store } = fixture.opened;
  fixture.isIntakeStopped = true;
  await fixture.answer(callOf());
  const prepared = await Array.fromAsync(paymentDraftTable.under(store, []));
  const ids = prepared.map(([, bytes]) => preparedRow(bytes).id);
  await fixture.giveBack(prepared.map(([, bytes]) => preparedRow(bytes)));
  // One of them was erased since, which is known by the record of its erasure.
  await store.write(ids.slice(0, 1).map((id) => preparedKeyTable.del(id)));
  fixture.isIntakeStopped = false;
  fixture.clock += MINUTE;
  const { made } = Object(bodyOf(await fixture.answer(callOf())));
  assert.is(made.at, timestampOf(START));
  assert.is((await recordsOf(store)).length, 2);
  for (const id of ids) assert.is(await preparedKeyTable.get(store, id), undefined);
});

test('a prepared payload is not readable on the disk, and its key stands in one place alone', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'late' };
  const call = callOf();
  await fixture.answer(call, async (recording) => {
    const draft = { kind: 'decision', account: 'x402', sourceId: 's', links: {} } as const;
    const payload = '{"text":"a very private prompt"}';
    const { id } = await recording.prepareOne({ ...draft, payload, claims: { channel: 'tiered' } });
    return { body: { id } };
  });
  const rows = await Array.fromAsync(fixture.opened.store.range({}));
  const texts = rows.map(([key, value]) => [key, Buffer.from(value).toString('latin1')] as const);
  assert.not.ok(texts.some(([, text]) => text.includes('private')));
  const [, seed = ''] = texts.find(([key]) => key.startsWith('payload-key/')) ?? [];
  assert.ok(seed.length > 0);
  assert.is(texts.filter(([, text]) => text.includes(seed)).length, 1);
});

test('the write that makes a record takes its key away from under its id', async () => {
  await using fixture = await PaymentFixture.open();
  const { store } = fixture.opened;
  const keys = async () => (await Array.fromAsync(preparedKeyTable.under(store, []))).length;
  fixture.isIntakeStopped = true;
  await fixture.answer(callOf());
  assert.equal([await keys(), (await recordsOf(store)).length], [2, 0]);
  fixture.isIntakeStopped = false;
  fixture.clock += MINUTE;
  await fixture.answer(callOf());
  assert.equal([await keys(), (await recordsOf(store)).length], [0, 2]);
});

test('an answer shown again is that of the first call, whatever the work would say now', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  await fixture.answer(callOf());
  const [first] = await Array.fromAsync(paymentTable.under(fixture.opened.store, []));
  assert.is(first?.[1].state, 'unpaid');
  fixture.chain.behaviour = HONEST;
  const other = worked(callOf({ nonce: 9 }));
  const body = bodyOf(await fixture.answer(callOf(), other));
  assert.equal(told(await fixture.answer(callOf(), other)), body);
  assert.ok((await recordsOf(fixture.opened.store)).every(([, source]) => source === nonceOf(1)));
});

for (const [isFound, look] of [
  [true, 'honest'],
  [false, 'unknown'],
] as const) {
  test(`a call that was let in beside an earlier one, which then came to nothing, is sold as a fresh one; found at once: ${isFound}`, async () => {
    await using fixture = await PaymentFixture.open({ chainMs: LONG_MS });
    const { chain } = fixture;
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    chain.behaviour = { ...HONEST, settle: 'declines' };
    chain.beforeLook = async () => {
      asked.resolve();
      await answered.promise;
    };
    const first = fixture.answer(callOf());
    await asked.promise;
    const { payments, open } = fixture.opened;
    {
      using _admitted = await payments.admit(callOf());
      answered.resolve();
      assert.is(await first, 'settlement-failed');
      chain.behaviour = { ...HONEST, look };
      const taken = payments.take(callOf(), async () => worked(callOf()));
      const outcome = await taken.catch((error: unknown) => String(error));
      if (isFound) assert.type(outcome, 'object');
      else assert.match(String(outcome), /outcome-unknown/);
    }
    assert.is(chain.paid.length, 1);
    assert.is(open.countOf(PAYER), isFound ? 0 : 1, 'what is open counts, and nothing else');
  });
}

test.run();
