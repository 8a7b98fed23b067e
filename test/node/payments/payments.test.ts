import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { WALLET_ALLOWANCE } from '../../../node/accounts/limits/allowances.ts';
import { PaymentError } from '../../../node/payments/payment-error.ts';
import { HELD_MS, OVER_MARGIN_MS } from '../../../node/payments/payment-store.ts';
import type { PaidRequest, Work } from '../../../node/payments/paid-request.ts';
import { HONEST } from './fake-chain.ts';
import {
  bodyOf,
  callOf,
  draftFor,
  nonceOf,
  PAYER,
  PaymentFixture,
  recordsOf,
  told,
  worked,
} from './payment-fixture.ts';

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
  await using fixture = await PaymentFixture.open();
  const outcome = await fixture.take(callOf());
  assert.equal(outcome.receipt?.payer, PAYER);
  assert.equal(outcome.receipt?.amount, '1000');
  assert.equal(fixture.chain.paid, [nonceOf(1)]);
  assert.is(fixture.opened.ledger.head.entries, 1);
  const summary = await fixture.opened.ledger.summaryOf(PAYER);
  assert.equal(
    [summary?.count, summary?.spent, summary?.services],
    [1, '1000', { 'hedera-fact': { count: 1, spent: '1000' } }],
  );
});

test('the same signature with the same request gets the same answer, at once and after a restart, and pays once', async () => {
  await using fixture = await PaymentFixture.open();
  const { work, runs } = counted(callOf());
  const first = bodyOf(await fixture.answer(callOf(), work));
  const second = await fixture.take(callOf(), work);
  assert.equal(second.body, first);
  assert.is(second.isReplay, true);
  await fixture.restart();
  assert.equal(told(await fixture.answer(callOf(), work)), first);
  assert.equal([runs(), fixture.chain.settles, fixture.opened.ledger.head.entries], [1, 1, 1]);
});

test('an answer is replayed while the facilitator is down', async () => {
  await using fixture = await PaymentFixture.open();
  const first = bodyOf(await fixture.answer(callOf()));
  fixture.chain.isReady = false;
  assert.equal(told(await fixture.answer(callOf())), first);
  assert.is(await fixture.answer(callOf({ nonce: 2 })), 'unavailable');
});

test('duplicates that come together get one answer of one run for one charge', async () => {
  await using fixture = await PaymentFixture.open();
  const { work, runs } = counted(callOf());
  const outcomes = await Promise.all([1, 2, 3, 4, 5].map(() => fixture.answer(callOf(), work)));
  assert.is(new Set(outcomes.map((outcome) => JSON.stringify(told(outcome)))).size, 1);
  assert.type(outcomes[0], 'object');
  assert.equal([runs(), fixture.chain.settles], [1, 1]);
});

test('an authorization pays for the request that it was shown with, and for no other', async () => {
  await using fixture = await PaymentFixture.open();
  const other = callOf({ request: 'other' });
  const together = await Promise.all([fixture.answer(callOf()), fixture.answer(other)]);
  assert.equal(together.map(told)[1], 'bound-elsewhere');
  assert.is(await fixture.answer(other), 'bound-elsewhere');
  assert.is(fixture.chain.settles, 1);
});

test('the answer is not given to another signature', async () => {
  await using fixture = await PaymentFixture.open();
  await fixture.take(callOf());
  assert.is(await fixture.answer(callOf({ signature: '0x02' })), 'refused');
});

test('nor is it given to one that comes while it is made', async () => {
  await using fixture = await PaymentFixture.open();
  const [first, second] = await Promise.all([fixture.answer(callOf()), fixture.answer(callOf({ signature: '0x02' }))]);
  assert.type(first, 'object');
  assert.is(second, 'refused');
  assert.is(fixture.chain.settles, 1);
});

test('a signature that does not hold runs nothing and keeps nobody from the right one', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.goodSignature = '0x01';
  const { work, runs } = counted(callOf());
  const outcomes = await Promise.all([
    fixture.answer(callOf({ signature: '0x02' }), work),
    fixture.answer(callOf(), work),
  ]);
  assert.is(outcomes[0], 'refused');
  assert.type(outcomes[1], 'object');
  assert.is(runs(), 1);
});

test('work that throws is not charged, and the payment pays for whatever comes next', async () => {
  await using fixture = await PaymentFixture.open();
  const broken: Work = () => Promise.reject(new Error('broken'));
  assert.is(await fixture.answer(callOf(), broken), 'broken');
  assert.is(fixture.chain.settles, 0);
  assert.type(await fixture.answer(callOf({ request: 'other' })), 'object');
});

test('an answer that is not worth its price is given for nothing', async () => {
  await using fixture = await PaymentFixture.open();
  const outcome = await fixture.take(callOf(), () =>
    Promise.resolve({ body: { verdict: 'inconclusive' }, charged: false }),
  );
  assert.equal([outcome.body, outcome.receipt], [{ verdict: 'inconclusive' }, null]);
  assert.is(fixture.chain.settles, 0);
  assert.type(await fixture.answer(callOf()), 'object');
});

test('what was recorded cannot be given for nothing', async () => {
  await using fixture = await PaymentFixture.open();
  const work: Work = async (recording) => {
    await recording.prepareOne(draftFor('x'));
    return { body: {}, charged: false };
  };
  assert.is(await fixture.answer(callOf(), work), 'what was recorded is charged');
});

test('where the settlement is refused after the work, nothing is recorded, and the same signature pays for what was prepared', async () => {
  await using fixture = await PaymentFixture.open();
  const { work, runs } = counted(callOf());
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await fixture.answer(callOf(), work), 'settlement-failed');
  assert.equal(await recordsOf(fixture.opened.store), []);
  await fixture.restart();
  assert.is(await fixture.answer(callOf({ request: 'other' }), work), 'bound-elsewhere');
  fixture.chain.behaviour = HONEST;
  const body = bodyOf(await fixture.answer(callOf(), work));
  assert.equal(
    [body.ids].flat().sort(),
    (await recordsOf(fixture.opened.store)).map(([id]) => id),
  );
  assert.is(runs(), 1);
});

test('a held payment that is good for nothing any more is refused with the reason, and taken on all the while', async () => {
  await using fixture = await PaymentFixture.open();
  const { payments } = fixture.opened;
  assert.is(await payments.isTakenOn(callOf()), false);
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await fixture.answer(callOf()), 'settlement-failed');
  assert.is(await payments.isTakenOn(callOf()), true);
  assert.is(await payments.isTakenOn(callOf({ signature: '0x02' })), false);
  fixture.chain.funds = 0;
  const refused = await fixture.take(callOf()).catch((error: unknown) => {
    return error instanceof PaymentError ? [error.code, error.reason] : error;
  });
  assert.equal(refused, ['refused', 'open_authorizations_exceed_balance']);
  assert.is(fixture.opened.ledger.head.entries, 0);
});

test('of what is held for a refused settlement nothing is charged without room for its records, or where nobody waits', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await fixture.answer(callOf()), 'settlement-failed');
  fixture.chain.behaviour = HONEST;
  const { settles } = fixture.chain;
  fixture.isQueueFull = true;
  assert.is(await fixture.answer(callOf()), 'the queue is full');
  fixture.isQueueFull = false;
  assert.is(await fixture.answer(callOf({ isWanted: () => false })), 'abandoned');
  assert.is(fixture.chain.settles, settles);
  assert.type(await fixture.answer(callOf()), 'object');
});

test('the chain is asked about a refused payment once it is over, and not before', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await fixture.answer(callOf()), 'settlement-failed');
  let looks = 0;
  const paymentOf = fixture.chain.paymentOf.bind(fixture.chain);
  fixture.chain.paymentOf = (sought) => {
    looks++;
    return paymentOf(sought);
  };
  await fixture.opened.upkeep.look();
  fixture.clock += 300 * SECOND + OVER_MARGIN_MS - 1;
  await fixture.opened.upkeep.look();
  assert.is(looks, 0);
  fixture.clock += 1;
  await fixture.opened.upkeep.look();
  assert.is(looks, 1);
  assert.equal(await fixture.opened.paymentStore.openKeys(undefined, 1), []);
});

for (const settle of ['throws-after', 'hangs-after', 'hides'] as const) {
  test(`a settlement whose reply is no use is found on the chain: ${settle}`, async () => {
    await using fixture = await PaymentFixture.open();
    fixture.chain.behaviour = { ...HONEST, settle };
    assert.type(await fixture.answer(callOf()), 'object');
    assert.is(fixture.opened.ledger.head.entries, 1);
  });
}

test('a facilitator that says it was paid and was not is not believed', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'boasts' };
  assert.is(await fixture.answer(callOf()), 'outcome-unknown');
  assert.is(fixture.opened.ledger.head.entries, 0);
  fixture.chain.behaviour = HONEST;
  assert.type(await fixture.answer(callOf()), 'object');
});

test('an unknown outcome is found out by the same signature, with the same answer', async () => {
  await using fixture = await PaymentFixture.open();
  const { work, runs } = counted(callOf());
  fixture.chain.behaviour = { ...HONEST, settle: 'hangs-after', look: 'unknown' };
  assert.is(await fixture.answer(callOf(), work), 'outcome-unknown');
  await fixture.restart();
  fixture.chain.behaviour = HONEST;
  assert.type(await fixture.answer(callOf(), work), 'object');
  assert.equal([runs(), fixture.chain.settles], [1, 1]);
});

test('an open payment is not settled anew without room for its records, or where nobody waits, and what the chain shows counts', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'throws-before' };
  assert.is(await fixture.answer(callOf()), 'outcome-unknown');
  assert.is(await fixture.answer(callOf({ nonce: 2 })), 'outcome-unknown');
  fixture.chain.behaviour = HONEST;
  const { settles } = fixture.chain;
  fixture.isQueueFull = true;
  assert.is(await fixture.answer(callOf()), 'outcome-unknown');
  await fixture.restart();
  assert.is(await fixture.answer(callOf()), 'outcome-unknown');
  await fixture.opened.upkeep.look();
  fixture.isQueueFull = false;
  await fixture.opened.upkeep.look();
  assert.is(await fixture.answer(callOf({ isWanted: () => false })), 'outcome-unknown');
  assert.equal([fixture.chain.settles, fixture.chain.paid], [settles, []]);
  fixture.chain.spend(nonceOf(2), 'paid');
  fixture.isQueueFull = true;
  assert.type(await fixture.answer(callOf({ nonce: 2, isWanted: () => false })), 'object');
  fixture.isQueueFull = false;
  assert.type(await fixture.answer(callOf()), 'object');
  assert.equal([fixture.chain.settles, fixture.chain.paid.length], [settles + 1, 2]);
});

test('once a settlement is open, that a later one is refused does not make it unpaid', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'late' };
  assert.is(await fixture.answer(callOf()), 'outcome-unknown');
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await fixture.answer(callOf()), 'outcome-unknown');
  fixture.chain.arrive();
  assert.type(await fixture.answer(callOf()), 'object');
});

test('an open settlement whose authorization has expired unused is unpaid', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'hangs-before' };
  assert.is(await fixture.answer(callOf()), 'outcome-unknown');
  fixture.clock += 301 * SECOND;
  assert.is(await fixture.answer(callOf()), 'settlement-failed');
  assert.is(await fixture.answer(callOf()), 'refused');
  assert.is(fixture.opened.ledger.head.entries, 0);
});

test('an authorization that its payer spends on something else during the work buys nothing', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'robbed' };
  assert.is(await fixture.answer(callOf()), 'settlement-failed');
  assert.is(await fixture.answer(callOf()), 'refused');
  assert.is(fixture.opened.ledger.head.entries, 0);
});

test('a settlement that was given up as refused and came through after all is answered', async () => {
  await using fixture = await PaymentFixture.open();
  fixture.chain.behaviour = { ...HONEST, settle: 'refuses' };
  assert.is(await fixture.answer(callOf()), 'settlement-failed');
  fixture.chain.spend(nonceOf(1), 'paid');
  fixture.chain.behaviour = HONEST;
  fixture.clock += 400 * SECOND;
  assert.type(await fixture.answer(callOf()), 'object');
  assert.is(fixture.opened.ledger.head.entries, 1);
});

test('whoever went away before the charge is not charged, and may come back', async () => {
  await using fixture = await PaymentFixture.open();
  const { work, runs } = counted(callOf());
  assert.is(await fixture.answer(callOf({ isWanted: () => false }), work), 'abandoned');
  assert.is(fixture.chain.settles, 0);
  assert.type(await fixture.answer(callOf(), work), 'object');
  assert.equal([runs(), (await recordsOf(fixture.opened.store)).length], [2, 2]);
});

test('a twin that still waits is charged for and answered where the first has gone', async () => {
  await using fixture = await PaymentFixture.open();
  const outcomes = await Promise.all([fixture.answer(callOf({ isWanted: () => false })), fixture.answer(callOf())]);
  assert.type(outcomes[1], 'object');
  assert.is(fixture.chain.settles, 1);
});

test('authorizations with too little or too much life, or for other terms, are refused unseen', async () => {
  await using fixture = await PaymentFixture.open();
  for (const validBefore of [-1, 0, 14, 86_401]) {
    assert.is(await fixture.answer(callOf({ nonce: 100 + validBefore, validBefore })), 'refused');
  }
  const call = callOf();
  const dear = { ...call, terms: { ...call.terms, payTo: `0x${'e'.repeat(40)}` } };
  assert.is(await fixture.answer(dear), 'refused');
  assert.is(fixture.chain.verifies, 0);
});

test('answers are held for seven days; then the payment is still known', async () => {
  await using fixture = await PaymentFixture.open();
  await fixture.take(callOf());
  fixture.clock += HELD_MS - 1;
  await fixture.opened.upkeep.look();
  assert.type(await fixture.answer(callOf()), 'object');
  fixture.clock += 1;
  await fixture.opened.upkeep.look();
  assert.is(await fixture.answer(callOf()), 'answer-ended');
  assert.is(fixture.chain.settles, 1);
});

test('a held answer is not readable on the disk', async () => {
  await using fixture = await PaymentFixture.open();
  await fixture.take(callOf(), async () => ({ body: { text: 'a very private answer' } }));
  const rows = await Array.fromAsync(fixture.opened.store.range({}));
  assert.ok(rows.length > 3);
  assert.not.ok(rows.some(([key, value]) => `${key}${Buffer.from(value).toString('latin1')}`.includes('private')));
});

test('a wallet that pays too often is told to wait, and not charged', async () => {
  await using fixture = await PaymentFixture.open();
  const free: Work = () => Promise.resolve({ body: {}, charged: false });
  for (let nonce = 1; nonce <= WALLET_ALLOWANCE.paidCallsPerMinute; nonce++) {
    await fixture.take(callOf({ nonce }), free);
  }
  const refused = await fixture.answer(callOf({ nonce: 9_999 }));
  assert.match(String(refused), /calls a minute/);
});

test.run();
