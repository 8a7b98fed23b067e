import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { HONEST } from './fake-chain.ts';
import { bodyOf, callOf, nonceOf, PAYER, PaymentFixture, told } from './payment-fixture.ts';

const ID = 'pay_0123456789abcdef';

test('a payment identifier makes a newly signed payment of the same request the same payment', async () => {
  await using fixture = await PaymentFixture.open();
  const first = bodyOf(await fixture.answer(callOf({ identifier: ID })));
  const again = await fixture.take(callOf({ nonce: 2, identifier: ID }));
  assert.equal(again.body, first);
  assert.is(again.isReplay, true);
  assert.equal(fixture.chain.paid, [nonceOf(1)]);
  assert.is(await fixture.answer(callOf({ nonce: 3, identifier: ID, request: 'other' })), 'identifier-conflict');
});

test('an identifier does not lead to an answer without a signature that holds', async () => {
  await using fixture = await PaymentFixture.open();
  await fixture.take(callOf({ identifier: ID }));
  fixture.chain.goodSignature = '0x01';
  assert.is(await fixture.answer(callOf({ nonce: 2, identifier: ID, signature: '0x02' })), 'refused');
});

test('newly signed payments under one identifier that come together are one charge', async () => {
  await using fixture = await PaymentFixture.open();
  const outcomes = await Promise.all([1, 2, 3].map((nonce) => fixture.answer(callOf({ nonce, identifier: ID }))));
  assert.is(new Set(outcomes.map((outcome) => JSON.stringify(told(outcome)))).size, 1);
  assert.is(fixture.chain.paid.length, 1);
});

test('while the first payment under an identifier is open, a second one is not charged', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'late' };
  assert.is(await fixture.answer(callOf({ identifier: ID })), 'outcome-unknown');
  fixture.chain.behaviour = HONEST;
  const second = callOf({ nonce: 2, identifier: ID, validBefore: 900 });
  assert.is(await fixture.answer(second), 'outcome-unknown');
  fixture.chain.arrive();
  assert.type(await fixture.answer(second), 'object');
  assert.equal(fixture.chain.paid, [nonceOf(1)]);
});

test('a payment that came to nothing leaves its identifier to the next', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await fixture.answer(callOf({ identifier: ID })), 'settlement-failed');
  fixture.chain.behaviour = HONEST;
  const second = bodyOf(await fixture.answer(callOf({ nonce: 2, identifier: ID })));
  assert.equal(told(await fixture.answer(callOf({ identifier: ID }))), second);
  assert.equal(fixture.chain.paid, [nonceOf(2)]);
});

test('a payment that is over takes no identifier along that is another’s by then', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await fixture.answer(callOf({ identifier: ID })), 'settlement-failed');
  fixture.chain.behaviour = HONEST;
  const second = bodyOf(await fixture.answer(callOf({ nonce: 2, identifier: ID })));
  fixture.clock += 400_000;
  await fixture.opened.upkeep.look();
  assert.equal(await fixture.opened.paymentStore.openKeys(undefined, 1), [], 'the first is over');
  assert.equal(told(await fixture.answer(callOf({ nonce: 3, identifier: ID, validBefore: 900 }))), second);
  assert.equal(fixture.chain.paid, [nonceOf(2)]);
});

test('a first payment that was given up as refused and came through after all is the one that is answered', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await fixture.answer(callOf({ identifier: ID })), 'settlement-failed');
  fixture.chain.spend(nonceOf(1), 'paid');
  fixture.chain.behaviour = HONEST;
  assert.type(await fixture.answer(callOf({ nonce: 2, identifier: ID })), 'object');
  assert.equal(fixture.chain.paid, [nonceOf(1)]);
});

test('while a first payment that was given up is found to be paid, a second one under its identifier is not charged', async () => {
  await using fixture = await PaymentFixture.open({ verifyMs: 2_000, chainMs: 2_000 });
  fixture.chain.behaviour = { ...HONEST, settle: 'unavailable' };
  assert.is(await fixture.answer(callOf({ identifier: ID })), 'unavailable');
  fixture.chain.spend(nonceOf(1), 'paid');
  fixture.chain.behaviour = HONEST;
  const [asked, said] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  fixture.chain.beforeLook = () => {
    asked.resolve();
    // Who asks after the first is answered at once.
    fixture.chain.beforeLook = async () => {};
    return said.promise;
  };
  const first = fixture.answer(callOf({ identifier: ID }));
  await asked.promise;
  assert.is(await fixture.answer(callOf({ nonce: 2, identifier: ID })), 'outcome-unknown');
  said.resolve();
  const body = bodyOf(await first);
  assert.equal(bodyOf(await fixture.answer(callOf({ nonce: 2, identifier: ID }))), body);
  assert.equal(fixture.chain.paid, [nonceOf(1)]);
});

test('while the chain does not say that a refused first payment paid nothing, a second one is not charged', async () => {
  for (const look of ['unknown', 'throws', 'hangs'] as const) {
    await using fixture = await PaymentFixture.open();
    const second = callOf({ nonce: 2, identifier: ID });
    fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
    assert.is(await fixture.answer(callOf({ identifier: ID })), 'settlement-failed');
    fixture.chain.spend(nonceOf(1), 'paid');
    fixture.chain.behaviour = { ...HONEST, look };
    assert.is(await fixture.answer(second), 'outcome-unknown', look);
    await fixture.restart();
    assert.is(await fixture.answer(second), 'outcome-unknown', look);
    fixture.chain.behaviour = HONEST;
    const { body } = await fixture.take(second);
    assert.equal(told(await fixture.answer(callOf({ identifier: ID }))), body);
    assert.equal(fixture.chain.paid, [nonceOf(1)], look);
  }
});

/** A first payment that is refused, and a second one that is sold beside it and comes to what is told. */
async function twoRefused(fixture: PaymentFixture, settle: 'refuses' | 'declines'): Promise<void> {
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await fixture.answer(callOf({ identifier: ID })), 'settlement-failed');
  fixture.chain.behaviour = { ...HONEST, settle };
  assert.is(await fixture.answer(callOf({ nonce: 2, identifier: ID })), 'settlement-failed');
  fixture.chain.behaviour = HONEST;
}

test('a refused payment that came through after another was refused, too, is the one that is answered', async () => {
  for (const settle of ['refuses', 'declines'] as const) {
    await using fixture = await PaymentFixture.open();
    await twoRefused(fixture, settle);
    fixture.chain.spend(nonceOf(1), 'paid');
    const { body } = await fixture.take(callOf({ nonce: 3, identifier: ID }));
    assert.equal(told(await fixture.answer(callOf({ identifier: ID }))), body);
    assert.equal(fixture.chain.paid, [nonceOf(1)], settle);
  }
});

test('a refused payment that is found to be paid once it is over keeps its identifier', async () => {
  await using fixture = await PaymentFixture.open();
  await twoRefused(fixture, 'refuses');
  fixture.chain.spend(nonceOf(1), 'paid');
  fixture.clock += 400_000;
  await fixture.opened.upkeep.look();
  assert.type(await fixture.answer(callOf({ nonce: 3, identifier: ID, validBefore: 900 })), 'object');
  assert.equal(fixture.chain.paid, [nonceOf(1)]);
});

test('an answer that was given under an identifier stays its answer, also where a refused payment came through later', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await fixture.answer(callOf({ identifier: ID })), 'settlement-failed');
  fixture.chain.behaviour = HONEST;
  const given = bodyOf(await fixture.answer(callOf({ nonce: 2, identifier: ID })));
  fixture.chain.spend(nonceOf(1), 'paid');
  fixture.clock += 400_000;
  await fixture.opened.upkeep.look();
  assert.is(fixture.opened.ledger.head.entries, 2);
  assert.equal(told(await fixture.answer(callOf({ nonce: 3, identifier: ID, validBefore: 900 }))), given);
});

test('a node that dies between a refused payment and the next charges no third one beside what came through', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await fixture.answer(callOf({ identifier: ID, validBefore: 900 })), 'settlement-failed');
  fixture.chain.behaviour = HONEST;
  fixture.fate = () => 'dies-after';
  assert.type(await fixture.answer(callOf({ nonce: 2, identifier: ID })), 'string');
  fixture.fate = () => 'kept';
  await fixture.restart();
  fixture.chain.spend(nonceOf(1), 'paid');
  fixture.clock += 400_000;
  await fixture.opened.upkeep.look();
  assert.type(await fixture.answer(callOf({ nonce: 3, identifier: ID, validBefore: 1_200 })), 'object');
  assert.equal(fixture.chain.paid, [nonceOf(1)]);
});

test('payments that are over together leave nothing of their identifier', async () => {
  await using fixture = await PaymentFixture.open();
  await twoRefused(fixture, 'refuses');
  fixture.clock += 400_000;
  await fixture.opened.upkeep.look();
  assert.is(await fixture.opened.paymentStore.identified(PAYER, ID), undefined);
});

test('beside eight refused payments that may still come through no other is charged', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  for (let nonce = 1; nonce <= 9; nonce++) {
    assert.is(await fixture.answer(callOf({ nonce, identifier: ID })), 'settlement-failed');
  }
  fixture.chain.behaviour = HONEST;
  assert.is(await fixture.answer(callOf({ nonce: 10, identifier: ID })), 'outcome-unknown');
  assert.type(await fixture.answer(callOf({ nonce: 9, identifier: ID })), 'object', 'shown again, it is');
  assert.equal(fixture.chain.paid, [nonceOf(9)]);
});

test('payments under one identifier that come again together after a refusal wait for one another, and one is charged', async () => {
  await using fixture = await PaymentFixture.open();
  const all = () => Promise.all([1, 2, 3].map((nonce) => fixture.answer(callOf({ nonce, identifier: ID }))));
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.equal(await all(), ['settlement-failed', 'settlement-failed', 'settlement-failed']);
  fixture.chain.behaviour = HONEST;
  const outcomes = await all();
  assert.is(new Set(outcomes.map((outcome) => JSON.stringify(told(outcome)))).size, 1);
  assert.is(fixture.chain.paid.length, 1);
});

test.run();
