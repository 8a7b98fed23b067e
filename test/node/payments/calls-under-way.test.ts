import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CallsUnderWay } from '../../../node/payments/calls-under-way.ts';
import { CHALLENGES_PER_MINUTE, PaymentLimits, REFUSALS_PER_MINUTE } from '../../../node/payments/payment-limits.ts';

test('a wallet has so many calls under way and no more; another wallet has its own', () => {
  const calls = new CallsUnderWay(2, 10);
  const first = calls.enterWallet('a');
  calls.enterWallet('a');
  assert.throws(() => calls.enterWallet('a'), /wallet-busy/);
  calls.enterWallet('b');
  first[Symbol.dispose]();
  calls.enterWallet('a');
  assert.throws(() => calls.enterWallet('a'), /wallet-busy/);
});

test('the node has so many calls under way and no more', () => {
  const calls = new CallsUnderWay(9, 2);
  const first = calls.enter();
  calls.enter();
  assert.throws(() => calls.enter(), /node-busy/);
  first[Symbol.dispose]();
  calls.enter();
  assert.is(calls.count, 2);
});

test('prices are named so many times a minute to an address', () => {
  let now = 0;
  const limits = new PaymentLimits(() => now);
  for (let i = 0; i < CHALLENGES_PER_MINUTE; i++) limits.admitChallenge('192.0.2.1');
  assert.throws(() => limits.admitChallenge('192.0.2.1'), /a minute/);
  limits.admitChallenge('192.0.2.2');
  now = 60_001;
  limits.admitChallenge('192.0.2.1');
});

test('an address whose payments do not hold is held up; those that hold are not counted', () => {
  const limits = new PaymentLimits(() => 0);
  for (let i = 0; i < 1_000; i++) limits.admitPayment('192.0.2.1');
  for (let i = 0; i < REFUSALS_PER_MINUTE; i++) limits.noteRefusal('192.0.2.1');
  assert.throws(() => limits.admitPayment('192.0.2.1'), /did not hold/);
  limits.admitPayment('192.0.2.2');
});

test.run();
