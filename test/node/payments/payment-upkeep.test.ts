import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { keyParts } from '../../../node/payments/payment-key.ts';
import { paymentEndTable, paymentTable } from '../../../node/payments/payment-tables.ts';
import { HONEST } from './fake-chain.ts';
import { callOf, PaymentRoom, recordsOf } from './payment-room.ts';

test('the start finds out what a crash left open, without its payer', async () => {
  await using room = await PaymentRoom.open();
  let writes = 0;
  // The first write begins the settlement; the second says what came of it.
  room.fate = () => (++writes === 2 ? 'dies-before' : 'kept');
  assert.is(await room.answer(callOf()), 'outcome-unknown');
  room.fate = () => 'kept';
  await room.restart();
  assert.is(room.opened.ledger.head.entries, 0);
  await room.opened.upkeep.look();
  assert.is(room.opened.ledger.head.entries, 1);
  assert.is((await recordsOf(room.opened.store)).length, 2);
  assert.equal(await room.opened.book.openKeys(undefined, 10), []);
});

test('a payment whose row is damaged holds up no other, and no start', async () => {
  await using room = await PaymentRoom.open();
  room.chain.behaviour = { ...HONEST, settle: 'hangs-after', look: 'unknown' };
  for (const nonce of [1, 2, 3]) assert.is(await room.answer(callOf({ nonce })), 'outcome-unknown');
  const [first] = await room.opened.book.openKeys(undefined, 1);
  if (first === undefined) throw new Error('nothing is open');
  const key = paymentTable.key(...keyParts(first));
  await room.opened.store.write([{ type: 'put', key, value: Buffer.from('{}') }]);
  await room.restart();
  room.chain.behaviour = HONEST;
  await room.opened.upkeep.look();
  assert.is(room.opened.ledger.head.entries, 2);
  assert.is((await recordsOf(room.opened.store)).length, 4);
});

test('what cannot be ended is left for the next round, and ends no round', async () => {
  await using room = await PaymentRoom.open();
  await room.take(callOf());
  const { store, book, upkeep } = room.opened;
  const [{ ends } = { ends: null }] = (await Array.fromAsync(paymentTable.under(store, []))).map(([, row]) => row);
  room.clock = ends ?? room.clock;
  let tries = 0;
  const endHeld = book.endHeld.bind(book);
  book.endHeld = async (...terms) => {
    if (++tries > 1) return endHeld(...terms);
    throw new Error('the disk refused');
  };
  await upkeep.look();
  assert.is(tries, 1);
  assert.is.not(await store.first({ gte: `${paymentEndTable.name}/`, lt: `${paymentEndTable.name}0` }), undefined);
  await upkeep.look();
  assert.is(await store.first({ gte: `${paymentEndTable.name}/`, lt: `${paymentEndTable.name}0` }), undefined);
});

test('upkeep does not wait for a call that is under way', async () => {
  await using room = await PaymentRoom.open();
  room.chain.behaviour = { ...HONEST, settle: 'late' };
  assert.is(await room.answer(callOf()), 'outcome-unknown');
  room.chain.behaviour = HONEST;
  room.chain.arrive();
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const { outcomeOf } = room.chain;
  room.chain.outcomeOf = async (sought) => {
    await end;
    return outcomeOf.call(room.chain, sought);
  };
  const call = room.answer(callOf());
  await new Promise((next) => setTimeout(next, 2));
  await room.opened.upkeep.look();
  resolve();
  assert.type(await call, 'object');
});

test.run();
