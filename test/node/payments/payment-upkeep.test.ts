import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { keyParts } from '../../../node/payments/payment-key.ts';
import { HELD_MS } from '../../../node/payments/payment-store.ts';
import { paymentEndTable, paymentTable } from '../../../node/payments/payment-tables.ts';
import { HONEST } from './fake-chain.ts';
import { callOf, PaymentFixture, recordsOf } from './payment-fixture.ts';

/** No answer of the chain is held up for so long. */
const LONG_MS = 60_000;

test('the start finds out what a crash left open, without its payer', async () => {
  await using fixture = await PaymentFixture.open();
  let writes = 0;
  // The first write begins the settlement; the second says what came of it.
  fixture.fate = () => (++writes === 2 ? 'dies-before' : 'kept');
  assert.is(await fixture.answer(callOf()), 'outcome-unknown');
  fixture.fate = () => 'kept';
  await fixture.restart();
  assert.is(fixture.opened.ledger.head.entries, 0);
  await fixture.opened.upkeep.look();
  assert.is(fixture.opened.ledger.head.entries, 1);
  assert.is((await recordsOf(fixture.opened.store)).length, 2);
  assert.equal(await fixture.opened.paymentStore.openKeys(undefined, 10), []);
});

test('a payment whose row is damaged holds up no other, and no start', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'hangs-after', look: 'unknown' };
  for (const nonce of [1, 2, 3]) assert.is(await fixture.answer(callOf({ nonce })), 'outcome-unknown');
  const [first] = await fixture.opened.paymentStore.openKeys(undefined, 1);
  if (first === undefined) throw new Error('nothing is open');
  const key = paymentTable.key(...keyParts(first));
  await fixture.opened.store.write([{ type: 'put', key, value: Buffer.from('{}') }]);
  await fixture.restart();
  fixture.chain.behaviour = HONEST;
  await fixture.opened.upkeep.look();
  assert.is(fixture.opened.ledger.head.entries, 2);
  assert.is((await recordsOf(fixture.opened.store)).length, 4);
});

test('what cannot be ended is left for the next round, and ends no round', async () => {
  await using fixture = await PaymentFixture.open();
  await fixture.take(callOf());
  const { store, paymentStore, upkeep } = fixture.opened;
  const [{ ends } = { ends: null }] = (await Array.fromAsync(paymentTable.under(store, []))).map(([, row]) => row);
  fixture.clock = ends ?? fixture.clock;
  let tries = 0;
  const endHeld = paymentStore.endHeld.bind(paymentStore);
  paymentStore.endHeld = async (...terms) => {
    if (++tries > 1) return endHeld(...terms);
    throw new Error('the disk refused');
  };
  await upkeep.look();
  assert.is(tries, 1);
  assert.is.not(await store.first({ gte: `${paymentEndTable.name}/`, lt: `${paymentEndTable.name}0` }), undefined);
  await upkeep.look();
  assert.is(await store.first({ gte: `${paymentEndTable.name}/`, lt: `${paymentEndTable.name}0` }), undefined);
});

test('nothing ends by a clock that is not known to be right: set back, the answer is held as before', async () => {
  await using fixture = await PaymentFixture.open();
  const { body } = await fixture.take(callOf());
  fixture.clock += HELD_MS;
  fixture.isClockRight = false;
  await fixture.opened.upkeep.look();
  fixture.clock -= HELD_MS;
  assert.equal((await fixture.take(callOf())).body, body);
  fixture.clock += HELD_MS;
  fixture.isClockRight = true;
  await fixture.opened.upkeep.look();
  assert.is(await fixture.answer(callOf()), 'answer-ended');
});

test('upkeep does not wait for a call that is under way', async () => {
  await using fixture = await PaymentFixture.open({ chainMs: LONG_MS });
  fixture.chain.behaviour = { ...HONEST, settle: 'late' };
  assert.is(await fixture.answer(callOf()), 'outcome-unknown');
  fixture.chain.behaviour = HONEST;
  fixture.chain.arrive();
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const { paymentOf } = fixture.chain;
  fixture.chain.paymentOf = async (sought) => {
    asked.resolve();
    await answered.promise;
    return paymentOf.call(fixture.chain, sought);
  };
  const call = fixture.answer(callOf());
  await asked.promise;
  await fixture.opened.upkeep.look();
  answered.resolve();
  assert.type(await call, 'object');
});

test.run();
