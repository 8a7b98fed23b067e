import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ADDRESS_ALLOWANCE, WALLET_ALLOWANCE } from '../../../node/accounts/limits/allowances.ts';
import { PaymentLimits, WalletCalls } from '../../../node/payments/payment-admission.ts';
import { walletAddress } from '../../../protocol/payments/payment.ts';

const WALLET = walletAddress(`0x${'a'.repeat(40)}`);
const OTHER_WALLET = walletAddress(`0x${'b'.repeat(40)}`);

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

test('a wallet whose calls come to nothing is held up; a heavy one counts as several, and other wallets are not held up', () => {
  let now = 0;
  const limits = new PaymentLimits(() => now);
  const { unpaidCallsPerMinute } = WALLET_ALLOWANCE;
  limits.noteUnpaid(WALLET, unpaidCallsPerMinute - 1);
  limits.admitName(WALLET);
  limits.noteUnpaid(WALLET, 40);
  assert.throws(() => limits.admitName(WALLET), /came to nothing/);
  limits.admitName(OTHER_WALLET);
  now = 60_001;
  limits.admitName(WALLET);
});

test.run();
