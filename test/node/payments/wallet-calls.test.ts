import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ADDRESS_ALLOWANCE } from '../../../node/limits/allowances.ts';
import { PaymentLimits } from '../../../node/payments/payment-limits.ts';
import { WalletCalls } from '../../../node/payments/wallet-calls.ts';

test('a wallet has so many calls under way and no more; another wallet has its own', () => {
  const calls = new WalletCalls(2);
  const first = calls.enter('a');
  calls.enter('a');
  assert.throws(() => calls.enter('a'), /wallet-busy/);
  calls.enter('b');
  first[Symbol.dispose]();
  calls.enter('a');
  assert.throws(() => calls.enter('a'), /wallet-busy/);
});

test('prices are named so many times a minute to an address', () => {
  let now = 0;
  const limits = new PaymentLimits(() => now);
  for (let i = 0; i < ADDRESS_ALLOWANCE.pricesPerMinute; i++) limits.admitChallenge('192.0.2.1');
  assert.throws(() => limits.admitChallenge('192.0.2.1'), /a minute/);
  limits.admitChallenge('192.0.2.2');
  now = 60_001;
  limits.admitChallenge('192.0.2.1');
});

test('an address whose payments do not hold is held up; those that hold are not counted', () => {
  const limits = new PaymentLimits(() => 0);
  for (let i = 0; i < 1_000; i++) limits.admitPayment('192.0.2.1');
  for (let i = 0; i < ADDRESS_ALLOWANCE.refusedPaymentsPerMinute; i++) limits.noteRefusal('192.0.2.1');
  assert.throws(() => limits.admitPayment('192.0.2.1'), /did not hold/);
  limits.admitPayment('192.0.2.2');
});

test.run();
