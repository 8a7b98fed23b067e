import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PaymentCipher } from '../../../node/payments/payment-cipher.ts';
import { HELD_MS } from '../../../node/payments/payment-store.ts';
import type { Store } from '../../../node/store/store.ts';
import { type Behaviour, HONEST } from './fake-chain.ts';
import {
  bodyOf,
  callOf,
  type CallOptions,
  nonceOf,
  PAYLOAD_KEY,
  PaymentFixture,
  sha,
  told,
} from './payment-fixture.ts';
import { asBefore, filesTelling, rowsHolding } from './stored-requests.ts';

const ID = 'pay_0123456789abcdef';
const NAMED: CallOptions = { identifier: ID };
const cipher = new PaymentCipher(PAYLOAD_KEY);
const REQUEST = sha('r');

/** Tables with rows by which whoever has the node's keys can tell the request. */
const tablesTelling = async (store: Store): Promise<string[]> =>
  (await rowsHolding(store, cipher.digest(REQUEST))).map((key) => key.split('/')[0] ?? '').toSorted();

/** Ends what is held for the payments so far. */
async function endHeld(fixture: PaymentFixture): Promise<void> {
  fixture.clock += HELD_MS;
  await fixture.opened.upkeep.look();
}

test('without the key of the node no row and no file tells a request, in whatever state its payment is', async () => {
  await using fixture = await PaymentFixture.open();
  const { store } = fixture.opened;
  const states: readonly Behaviour['settle'][] = ['refuses', 'late', 'robbed', 'honest'];
  for (const [nonce, settle] of states.entries()) {
    fixture.chain.behaviour = { ...HONEST, settle };
    await fixture.answer(callOf({ ...NAMED, identifier: `${ID}-${nonce}`, nonce }));
  }
  const written = (await tablesTelling(store)).filter((table) => table === 'payment').length;
  assert.is(written, states.length, 'a payment of each state is on the disk');
  assert.equal(await rowsHolding(store, REQUEST), []);
  assert.equal(await filesTelling(store.directory, REQUEST), []);
  assert.is.not(new PaymentCipher(new Uint8Array(32)).digest(REQUEST), cipher.digest(REQUEST));
});

test('once an answer has ended, nobody can tell from the rows what was asked', async () => {
  await using fixture = await PaymentFixture.open();
  await fixture.take(callOf(NAMED));
  assert.equal(await tablesTelling(fixture.opened.store), ['payment', 'payment-identifier']);
  await endHeld(fixture);
  assert.equal(await tablesTelling(fixture.opened.store), []);
});

test('a payment whose answer has ended is told so whatever it asks, also newly signed under its identifier, and pays no more', async () => {
  await using fixture = await PaymentFixture.open();
  await fixture.take(callOf(NAMED));
  await endHeld(fixture);
  const later = { ...NAMED, nonce: 2, validBefore: HELD_MS / 1_000 + 300 };
  for (let start = 0; start < 2; start++) {
    for (const call of [NAMED, { ...NAMED, request: 'other' }, later, { ...later, request: 'other' }]) {
      assert.is(await fixture.answer(callOf(call)), 'answer-ended');
    }
    assert.is(await fixture.answer(callOf({ ...NAMED, signature: '0x02' })), 'refused');
    await fixture.restart();
  }
  assert.equal([fixture.chain.paid, fixture.opened.ledger.head.entries], [[nonceOf(1)], 1]);
});

test('an identifier whose answer has ended sells nothing more, also where another was paid under it meanwhile', async () => {
  await using fixture = await PaymentFixture.open();
  const second = callOf({ ...NAMED, nonce: 2, validBefore: 900 });
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await fixture.answer(callOf(NAMED)), 'settlement-failed');
  fixture.chain.behaviour = { ...HONEST, settle: 'late' };
  assert.is(await fixture.answer(second), 'outcome-unknown');
  fixture.chain.behaviour = HONEST;
  // The first was given up as refused, and came through after all; the second is paid later.
  fixture.chain.spend(nonceOf(1), 'paid');
  fixture.clock += 400_000;
  await fixture.opened.upkeep.look();
  fixture.clock += 100_000;
  fixture.chain.arrive();
  const body = bodyOf(await fixture.answer(second));
  fixture.clock += HELD_MS - 50_000;
  await fixture.opened.upkeep.look();
  const third = callOf({ ...NAMED, nonce: 3, validBefore: HELD_MS / 1_000 + 600 });
  for (const call of [callOf(NAMED), third]) assert.is(await fixture.answer(call), 'answer-ended');
  assert.equal(told(await fixture.answer(second)), body, 'whoever shows that payment itself has its answer');
  fixture.clock += 50_000;
  await fixture.opened.upkeep.look();
  for (const call of [second, third]) assert.is(await fixture.answer(call), 'answer-ended');
  assert.is(fixture.opened.ledger.head.entries, 2);
});

interface FormerState {
  readonly behaviour: Behaviour['settle'];
  readonly isIntakeStopped?: boolean;
  readonly first: string;
}

const FORMER: Readonly<Record<string, FormerState>> = {
  unpaid: { behaviour: 'refuses', first: 'settlement-failed' },
  unknown: { behaviour: 'late', first: 'outcome-unknown' },
  settled: { behaviour: 'honest', isIntakeStopped: true, first: 'not-published' },
  published: { behaviour: 'honest', first: 'answered' },
};

for (const [state, { behaviour, isIntakeStopped = false, first }] of Object.entries(FORMER)) {
  test(`a payment that the release before left ${state} is the same request's still, charged once, and ends like any`, async () => {
    await using fixture = await PaymentFixture.open();
    fixture.chain.behaviour = { ...HONEST, settle: behaviour };
    fixture.isIntakeStopped = isIntakeStopped;
    const outcome = await fixture.answer(callOf(NAMED));
    assert.is(typeof outcome === 'string' ? outcome : 'answered', first);
    assert.is(await asBefore(fixture.opened.store, cipher, REQUEST), 2);
    await fixture.restart();
    fixture.chain.behaviour = HONEST;
    fixture.isIntakeStopped = false;
    fixture.chain.arrive();
    assert.is(await fixture.answer(callOf({ ...NAMED, request: 'other' })), 'bound-elsewhere');
    const body = bodyOf(await fixture.answer(callOf(NAMED)));
    assert.equal(told(await fixture.answer(callOf({ ...NAMED, nonce: 2 }))), body);
    assert.is(await fixture.answer(callOf({ ...NAMED, nonce: 3, request: 'other' })), 'identifier-conflict');
    assert.equal([fixture.chain.paid, fixture.opened.ledger.head.entries], [[nonceOf(1)], 1]);
    await endHeld(fixture);
    assert.equal(await rowsHolding(fixture.opened.store, REQUEST), []);
    assert.is(await fixture.answer(callOf(NAMED)), 'answer-ended');
  });
}

test.run();
