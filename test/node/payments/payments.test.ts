import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WALLET_ALLOWANCE } from '../../../node/limits/allowances.ts';
import { HELD_MS, OVER_MARGIN_MS } from '../../../node/payments/payment-book.ts';
import type { PaidRequest, Work } from '../../../node/payments/paid-request.ts';
import { HONEST } from './fake-chain.ts';
import { bodyOf, callOf, draftFor, nonceOf, PAYER, PaymentRoom, recordsOf, told, worked } from './payment-room.ts';

const SECOND = 1_000;

/** Work that tells how often it ran. */
function counted(call: PaidRequest): { readonly work: Work; readonly runs: () => number } {
  let ran = 0;
  const inner = worked(call);
  return {
    work: (recording, signal) => {
      ran++;
      return inner(recording, signal);
    },
    runs: () => ran,
  };
}

test('a paid call is charged once, answered with a receipt, and entered in the ledger', async () => {
  await using room = await PaymentRoom.open();
  const outcome = await room.take(callOf());
  assert.equal(outcome.receipt?.payer, PAYER);
  assert.equal(outcome.receipt?.amount, '1000');
  assert.equal(room.chain.paid, [nonceOf(1)]);
  assert.is(room.opened.ledger.head.entries, 1);
  const summary = await room.opened.ledger.summaryOf(PAYER);
  assert.equal(
    [summary?.count, summary?.spent, summary?.services],
    [1, '1000', { 'hedera-fact': { count: 1, spent: '1000' } }],
  );
});

test('the same signature with the same request gets the same answer, at once and after a restart, and pays once', async () => {
  await using room = await PaymentRoom.open();
  const { work, runs } = counted(callOf());
  const first = bodyOf(await room.answer(callOf(), work));
  const second = await room.take(callOf(), work);
  assert.equal(second.body, first);
  assert.is(second.isReplay, true);
  await room.restart();
  assert.equal(told(await room.answer(callOf(), work)), first);
  assert.equal([runs(), room.chain.settles, room.opened.ledger.head.entries], [1, 1, 1]);
});

test('an answer is replayed while the facilitator is down', async () => {
  await using room = await PaymentRoom.open();
  const first = bodyOf(await room.answer(callOf()));
  room.chain.isReady = false;
  assert.equal(told(await room.answer(callOf())), first);
  assert.is(await room.answer(callOf({ nonce: 2 })), 'unavailable');
});

test('twins that come together get one answer of one run for one charge', async () => {
  await using room = await PaymentRoom.open();
  const { work, runs } = counted(callOf());
  const outcomes = await Promise.all([1, 2, 3, 4, 5].map(() => room.answer(callOf(), work)));
  assert.is(new Set(outcomes.map((outcome) => JSON.stringify(told(outcome)))).size, 1);
  assert.type(outcomes[0], 'object');
  assert.equal([runs(), room.chain.settles], [1, 1]);
});

test('an authorization pays for the request that it was shown with, and for no other', async () => {
  await using room = await PaymentRoom.open();
  const other = callOf({ request: 'other' });
  const together = await Promise.all([room.answer(callOf()), room.answer(other)]);
  assert.equal(together.map(told)[1], 'bound-elsewhere');
  assert.is(await room.answer(other), 'bound-elsewhere');
  assert.is(room.chain.settles, 1);
});

test('the answer is not given to another signature', async () => {
  await using room = await PaymentRoom.open();
  await room.take(callOf());
  assert.is(await room.answer(callOf({ signature: '0x02' })), 'refused');
});

test('nor is it given to one that comes while it is made', async () => {
  await using room = await PaymentRoom.open();
  const [first, second] = await Promise.all([room.answer(callOf()), room.answer(callOf({ signature: '0x02' }))]);
  assert.type(first, 'object');
  assert.is(second, 'refused');
  assert.is(room.chain.settles, 1);
});

test('a signature that does not hold runs nothing and keeps nobody from the right one', async () => {
  await using room = await PaymentRoom.open();
  room.chain.goodSignature = '0x01';
  const { work, runs } = counted(callOf());
  const outcomes = await Promise.all([room.answer(callOf({ signature: '0x02' }), work), room.answer(callOf(), work)]);
  assert.is(outcomes[0], 'refused');
  assert.type(outcomes[1], 'object');
  assert.is(runs(), 1);
});

test('work that throws is not charged, and the payment pays for whatever comes next', async () => {
  await using room = await PaymentRoom.open();
  const broken: Work = () => Promise.reject(new Error('broken'));
  assert.is(await room.answer(callOf(), broken), 'broken');
  assert.is(room.chain.settles, 0);
  assert.type(await room.answer(callOf({ request: 'other' })), 'object');
});

test('an answer that is not worth its price is given for nothing', async () => {
  await using room = await PaymentRoom.open();
  const outcome = await room.take(callOf(), () =>
    Promise.resolve({ body: { verdict: 'inconclusive' }, charged: false }),
  );
  assert.equal([outcome.body, outcome.receipt], [{ verdict: 'inconclusive' }, null]);
  assert.is(room.chain.settles, 0);
  assert.type(await room.answer(callOf()), 'object');
});

test('what was recorded cannot be given for nothing', async () => {
  await using room = await PaymentRoom.open();
  const work: Work = async (recording) => {
    await recording.prepareOne(draftFor('x'));
    return { body: {}, charged: false };
  };
  assert.is(await room.answer(callOf(), work), 'what was recorded is charged');
});

test('where the settlement is refused after the work, nothing is recorded, and the same signature pays for what was prepared', async () => {
  await using room = await PaymentRoom.open();
  const { work, runs } = counted(callOf());
  room.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await room.answer(callOf(), work), 'settlement-failed');
  assert.equal(await recordsOf(room.opened.store), []);
  await room.restart();
  assert.is(await room.answer(callOf({ request: 'other' }), work), 'bound-elsewhere');
  room.chain.behaviour = HONEST;
  const body = bodyOf(await room.answer(callOf(), work));
  assert.equal(
    [body.ids].flat().sort(),
    (await recordsOf(room.opened.store)).map(([id]) => id),
  );
  assert.is(runs(), 1);
});

test('of what is held for a refused settlement nothing is charged without room for its records, or where nobody waits', async () => {
  await using room = await PaymentRoom.open();
  room.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await room.answer(callOf()), 'settlement-failed');
  room.chain.behaviour = HONEST;
  const { settles } = room.chain;
  room.isQueueFull = true;
  assert.is(await room.answer(callOf()), 'the queue is full');
  room.isQueueFull = false;
  assert.is(await room.answer(callOf({ isWanted: () => false })), 'abandoned');
  assert.is(room.chain.settles, settles);
  assert.type(await room.answer(callOf()), 'object');
});

test('the chain is asked about a refused payment once it is over, and not before', async () => {
  await using room = await PaymentRoom.open();
  room.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await room.answer(callOf()), 'settlement-failed');
  let looks = 0;
  const outcomeOf = room.chain.outcomeOf.bind(room.chain);
  room.chain.outcomeOf = (sought) => {
    looks++;
    return outcomeOf(sought);
  };
  await room.opened.upkeep.look();
  room.clock += 300 * SECOND + OVER_MARGIN_MS - 1;
  await room.opened.upkeep.look();
  assert.is(looks, 0);
  room.clock += 1;
  await room.opened.upkeep.look();
  assert.is(looks, 1);
  assert.equal(await room.opened.book.openKeys(undefined, 1), []);
});

for (const settle of ['throws-after', 'hangs-after', 'hides'] as const) {
  test(`a settlement whose reply is no use is found on the chain: ${settle}`, async () => {
    await using room = await PaymentRoom.open();
    room.chain.behaviour = { ...HONEST, settle };
    assert.type(await room.answer(callOf()), 'object');
    assert.is(room.opened.ledger.head.entries, 1);
  });
}

test('a facilitator that says it was paid and was not is not believed', async () => {
  await using room = await PaymentRoom.open();
  room.chain.behaviour = { ...HONEST, settle: 'boasts' };
  assert.is(await room.answer(callOf()), 'outcome-unknown');
  assert.is(room.opened.ledger.head.entries, 0);
  room.chain.behaviour = HONEST;
  assert.type(await room.answer(callOf()), 'object');
});

test('an unknown outcome is found out by the same signature, with the same answer', async () => {
  await using room = await PaymentRoom.open();
  const { work, runs } = counted(callOf());
  room.chain.behaviour = { ...HONEST, settle: 'hangs-after', look: 'unknown' };
  assert.is(await room.answer(callOf(), work), 'outcome-unknown');
  await room.restart();
  room.chain.behaviour = HONEST;
  assert.type(await room.answer(callOf(), work), 'object');
  assert.equal([runs(), room.chain.settles], [1, 1]);
});

test('once a settlement is open, that a later one is refused does not make it unpaid', async () => {
  await using room = await PaymentRoom.open();
  room.chain.behaviour = { ...HONEST, settle: 'late' };
  assert.is(await room.answer(callOf()), 'outcome-unknown');
  room.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await room.answer(callOf()), 'outcome-unknown');
  room.chain.arrive();
  assert.type(await room.answer(callOf()), 'object');
});

test('an open settlement whose authorization has expired unused is unpaid', async () => {
  await using room = await PaymentRoom.open();
  room.chain.behaviour = { ...HONEST, settle: 'hangs-before' };
  assert.is(await room.answer(callOf()), 'outcome-unknown');
  room.clock += 301 * SECOND;
  assert.is(await room.answer(callOf()), 'settlement-failed');
  assert.is(await room.answer(callOf()), 'refused');
  assert.is(room.opened.ledger.head.entries, 0);
});

test('an authorization that its payer spends on something else during the work buys nothing', async () => {
  await using room = await PaymentRoom.open();
  room.chain.behaviour = { ...HONEST, settle: 'robbed' };
  assert.is(await room.answer(callOf()), 'settlement-failed');
  assert.is(await room.answer(callOf()), 'refused');
  assert.is(room.opened.ledger.head.entries, 0);
});

test('a settlement that was given up as refused and came through after all is answered', async () => {
  await using room = await PaymentRoom.open();
  room.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await room.answer(callOf()), 'settlement-failed');
  room.chain.spend(nonceOf(1), 'paid');
  room.chain.behaviour = HONEST;
  room.clock += 400 * SECOND;
  assert.type(await room.answer(callOf()), 'object');
  assert.is(room.opened.ledger.head.entries, 1);
});

test('whoever went away before the charge is not charged, and may come back', async () => {
  await using room = await PaymentRoom.open();
  const { work, runs } = counted(callOf());
  assert.is(await room.answer(callOf({ isWanted: () => false }), work), 'abandoned');
  assert.is(room.chain.settles, 0);
  assert.type(await room.answer(callOf(), work), 'object');
  assert.equal([runs(), (await recordsOf(room.opened.store)).length], [2, 2]);
});

test('a twin that still waits is charged for and answered where the first has gone', async () => {
  await using room = await PaymentRoom.open();
  const outcomes = await Promise.all([room.answer(callOf({ isWanted: () => false })), room.answer(callOf())]);
  assert.type(outcomes[1], 'object');
  assert.is(room.chain.settles, 1);
});

test('authorizations with too little or too much life, or for other terms, are refused unseen', async () => {
  await using room = await PaymentRoom.open();
  for (const validBefore of [-1, 0, 14, 86_401]) {
    assert.is(await room.answer(callOf({ nonce: 100 + validBefore, validBefore })), 'refused');
  }
  const call = callOf();
  const dear = { ...call, terms: { ...call.terms, payTo: `0x${'e'.repeat(40)}` } };
  assert.is(await room.answer(dear), 'refused');
  assert.is(room.chain.verifies, 0);
});

test('answers are held for seven days; then the payment is still known', async () => {
  await using room = await PaymentRoom.open();
  await room.take(callOf());
  room.clock += HELD_MS - 1;
  await room.opened.upkeep.look();
  assert.type(await room.answer(callOf()), 'object');
  room.clock += 1;
  await room.opened.upkeep.look();
  assert.is(await room.answer(callOf()), 'answer-ended');
  assert.is(room.chain.settles, 1);
});

test('a held answer is not readable on the disk', async () => {
  await using room = await PaymentRoom.open();
  await room.take(callOf(), async () => ({ body: { text: 'a very private answer' } }));
  const rows = await Array.fromAsync(room.opened.store.range({}));
  assert.ok(rows.length > 3);
  assert.not.ok(rows.some(([key, value]) => `${key}${Buffer.from(value).toString('latin1')}`.includes('private')));
});

test('a wallet that pays too often is told to wait, and not charged', async () => {
  await using room = await PaymentRoom.open();
  const free: Work = () => Promise.resolve({ body: {}, charged: false });
  for (let nonce = 1; nonce <= WALLET_ALLOWANCE.paidCallsPerMinute; nonce++) await room.take(callOf({ nonce }), free);
  const refused = await room.answer(callOf({ nonce: 9_999 }));
  assert.match(String(refused), /calls a minute/);
});

test.run();
