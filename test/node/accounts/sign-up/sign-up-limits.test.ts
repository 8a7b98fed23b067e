import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SignUpLimits } from '../../../../node/accounts/sign-up/sign-up-limits.ts';
import {
  ADDRESS_ALLOWANCE,
  ADDRESS_PERMANENT_BYTES_PER_DAY,
  SIGN_UP_ALLOWANCE,
} from '../../../../node/accounts/limits/allowances.ts';
import { LimitError } from '../../../../node/accounts/limits/limit-error.ts';
import { SIGN_UP } from '../../../../node/accounts/limits/route-weights.ts';

const HOUR_MS = 3_600_000;
let people = 0;

/** The sign-ups of an address that are let in now, each for another recipient. */
function letIn(limits: SignUpLimits, address: string, most = 10_000): number {
  for (let count = 0; count < most; count++) {
    try {
      limits.admit(address, `recipient ${people++}`);
    } catch (error) {
      if (!(error instanceof LimitError)) throw error;
      assert.equal([error.code, error.holder?.kind], ['rate-limited', 'address']);
      assert.ok(Number(error.headers['Retry-After']) > 0);
      return count;
    }
  }
  return most;
}

test('one address makes so many accounts an hour, and so many a day, however long it goes on', () => {
  let now = 0;
  const limits = new SignUpLimits(() => now);
  const made: number[] = [];
  for (; now < 24 * HOUR_MS; now += HOUR_MS) made.push(letIn(limits, '2001:db8::1'));
  const total = made.reduce((sum, count) => sum + count, 0);
  assert.is(made[0], ADDRESS_ALLOWANCE.signUpsPerHour);
  assert.is(total, ADDRESS_ALLOWANCE.signUpsPerDay);
  assert.is(total * SIGN_UP.permanentBytes, ADDRESS_PERMANENT_BYTES_PER_DAY);
  assert.is(letIn(limits, '2001:db8::2'), ADDRESS_ALLOWANCE.signUpsPerHour, 'the first hour is a day ago');
});

test('a node makes so many accounts a day, from however many addresses', () => {
  let now = 0;
  const limits = new SignUpLimits(() => now);
  let total = 0;
  for (let hour = 0; hour < 24; hour++, now += HOUR_MS) {
    for (let i = 0; i < 200; i++) total += letIn(limits, `192.0.${hour}.${i}`);
  }
  assert.is(total, SIGN_UP_ALLOWANCE.perDay);
});

test.run();
